--- @script rl.refund
--- @version 1.0.0
--- @owner totality
--- @summary Gives back what a call took, never more than the limiter holds
--- @key state any rw ttl template="rl:{subject}:<kind>"
--- @arg kind word fixed_window|sliding_counter|token_bucket|gcra
--- @arg limit int 1..1000000
--- @arg period_ms int 1..2678400000
--- @arg burst int 1..1000000
--- @arg amount int 1..1000000
--- @arg now_us int 0..9007199254740991 default=0 test
--- @reply code:int refunded:int
--- @code 1 REFUNDED so much of the amount; the rest was given back by time already
--- @code 0 NOTHING the limiter is full
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @note The arguments are those of rl.peek. A sliding log gives a request back by ZREM of its members.
--- @include "args"
--- @include "word"
--- @include "now_us"
--- @include "stored"
--- @include "digits"
keys(1)
local kind = word(1, 'kind', 'fixed_window', 'sliding_counter', 'token_bucket', 'gcra')
local limit = int(2, 'limit', 1, 1000000)
local period = int(3, 'period_ms', 1, 2678400000)
local burst = int(4, 'burst', 1, 1000000)
local amount = int(5, 'amount', 1, 1000000)
local now = now_us(6)
if bad then return bad end
if kind == 'fixed_window' then
  local used = whole(redis.call('GET', KEYS[1]) or '0')
  if not used then return {-9, 0} end
  local back = math.min(used, amount)
  if back == 0 then return {0, 0} end
  redis.call('DECRBY', KEYS[1], back)
  if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], math.max(1000, period)) end
  return {1, back}
elseif kind == 'sliding_counter' then
  local state = redis.call('HMGET', KEYS[1], 'window', 'current')
  local index = math.floor(math.floor(now / 1000) / period)
  if not state[1] then return {0, 0} end
  local w, c = whole(state[1]), whole(state[2])
  if not w or not c then return {-9, 0} end
  local back = math.min(c, amount)
  if w < index or back == 0 then return {0, 0} end
  redis.call('HSET', KEYS[1], 'current', digits(c - back))
  return {1, back}
elseif kind == 'token_bucket' then
  local state = redis.call('HMGET', KEYS[1], 'tokens', 'time')
  if not state[1] then return {0, 0} end
  local t, time = whole(state[1]), whole(state[2])
  if not t or not time then return {-9, 0} end
  now = math.max(now, time)
  local rate, capacity = limit * 1000 / period, burst * 1000000
  local tokens = math.min(capacity, t + math.floor((now - time) * rate))
  local after = math.min(capacity, tokens + amount * 1000000)
  if after == tokens then return {0, 0} end
  redis.call('HSET', KEYS[1], 'tokens', digits(after), 'time', digits(now))
  return {1, math.floor((after - tokens) / 1000000)}
end
local raw = redis.call('GET', KEYS[1])
local tat = whole(raw or '0')
if not tat then return {-9, 0} end
if tat <= now then return {0, 0} end
local step = math.ceil(period * 1000 / limit)
local new = math.max(now, tat - amount * step)
redis.call('SET', KEYS[1], digits(new), 'PX', math.ceil((new - now) / 1000) + 1000)
return {1, math.floor((tat - new) / step)}
