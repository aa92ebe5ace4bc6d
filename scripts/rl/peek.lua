--- @script rl.peek
--- @version 1.0.1
--- @owner totality
--- @summary Looks at a limiter's state without counting; may run on a replica
--- @key state any r ttl template="rl:{subject}:<kind>"
--- @arg kind word fixed_window|sliding_counter|token_bucket|gcra
--- @arg limit int 1..1000000
--- @arg period_ms int 1..2678400000
--- @arg burst int 1..1000000
--- @arg now_us int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ALLOWED a call of cost 1 would pass
--- @code 0 REJECTED it would not
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @flags no-writes
--- @note limit and period_ms are those of the limiter (for a token bucket its refill and per_ms), burst is that of rl.gcra or the capacity of the bucket; the others ignore it.
--- @include "args"
--- @include "word"
--- @include "now_us"
--- @include "stored"
keys(1)
local kind = word(1, 'kind', 'fixed_window', 'sliding_counter', 'token_bucket', 'gcra')
local limit = int(2, 'limit', 1, 1000000)
local period = int(3, 'period_ms', 1, 2678400000)
local burst = int(4, 'burst', 1, 1000000)
local now = now_us(5)
if bad then return bad end
local remaining, retry, reset = limit, 0, 0
if kind == 'fixed_window' then
  local used = whole(redis.call('GET', KEYS[1]) or '0')
  if not used then return {-9, 0, 0, 0} end
  remaining = math.max(0, limit - used)
  reset = math.max(0, redis.call('PTTL', KEYS[1]))
  retry = reset
elseif kind == 'sliding_counter' then
  local ms = math.floor(now / 1000)
  local index = math.floor(ms / period)
  local state = redis.call('HMGET', KEYS[1], 'window', 'current', 'previous')
  local current, previous = 0, 0
  if state[1] then
    local w, c, p = whole(state[1]), whole(state[2]), whole(state[3])
    if not w or not c or not p then return {-9, 0, 0, 0} end
    if w >= index then
      if w > index then index, ms = w, w * period end
      current, previous = c, p
    elseif w == index - 1 then
      previous = c
    end
  end
  local left = period - (ms - index * period)
  remaining = math.max(0, limit - current - math.ceil(previous * left / period))
  -- As rl.sliding_counter says it for a call of cost 1.
  if current < limit then
    retry = math.ceil(period * (1 - (limit - current - 1) / previous)) - (period - left)
  else
    retry = left + math.max(0, math.ceil(period * (1 - (limit - 1) / current)))
  end
  reset = current > 0 and left + period or previous > 0 and left or 0
elseif kind == 'token_bucket' then
  local state = redis.call('HMGET', KEYS[1], 'tokens', 'time')
  local rate, capacity = limit * 1000 / period, burst * 1000000
  local tokens = capacity
  if state[1] then
    local t, time = whole(state[1]), whole(state[2])
    if not t or not time then return {-9, 0, 0, 0} end
    tokens = math.min(capacity, t + math.floor(math.max(0, now - time) * rate))
  end
  remaining = math.floor(tokens / 1000000)
  retry = math.ceil((1000000 - tokens) / rate / 1000)
  reset = math.ceil((capacity - tokens) / rate / 1000)
else
  local tat = whole(redis.call('GET', KEYS[1]) or '0')
  if not tat then return {-9, 0, 0, 0} end
  tat = math.max(tat, now)
  local step = math.ceil(period * 1000 / limit)
  remaining = math.max(0, math.floor((now + burst * step - tat) / step))
  retry = math.ceil((tat + step - now - burst * step) / 1000)
  reset = math.ceil((tat - now) / 1000)
end
if remaining > 0 then return {1, remaining, 0, reset} end
return {0, 0, math.max(1, retry), reset}
