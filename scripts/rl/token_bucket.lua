--- @script rl.token_bucket
--- @version 1.0.0
--- @owner totality
--- @summary Token bucket: bursts up to the capacity, refilled at a steady rate
--- @key state hash rw ttl template="rl:{subject}:token_bucket"
--- @arg capacity int 1..1000000
--- @arg refill int 1..1000000
--- @arg per_ms int 1..86400000
--- @arg cost int 0..1000000 default=1
--- @arg now_us int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ALLOWED
--- @code 0 REJECTED http=429 retry_after=retry_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note Counts in millionths of a token, so nothing is lost by rounding at any rate; a refused call changes nothing.
--- @include "args"
--- @include "now_us"
--- @include "stored"
--- @include "digits"
keys(1)
local capacity = int(1, 'capacity', 1, 1000000) * 1000000
local refill = int(2, 'refill', 1, 1000000)
local per = int(3, 'per_ms', 1, 86400000)
local cost = int(4, 'cost', 0, 1000000) * 1000000
local now = now_us(5)
-- Millionths of a token per microsecond.
local rate = refill * 1000 / per
if capacity / rate > 31536000000000 then
  bad = bad or {err = 'SCRIPTARG rl.token_bucket refill is so slow that filling the bucket takes over a year'}
end
if bad then return bad end
local state = redis.call('HMGET', KEYS[1], 'tokens', 'time')
local tokens = capacity
if state[1] then
  local t, time = whole(state[1]), whole(state[2])
  if not t or not time then return {-9, 0, 0, 0} end
  now = math.max(now, time)
  tokens = math.min(capacity, t + math.floor((now - time) * rate))
end
if tokens >= cost then
  tokens = tokens - cost
  local full = math.ceil((capacity - tokens) / rate / 1000)
  if cost > 0 then
    redis.call('HSET', KEYS[1], 'tokens', digits(tokens), 'time', digits(now))
    redis.call('PEXPIRE', KEYS[1], full + 1000)
  end
  return {1, math.floor(tokens / 1000000), 0, full}
end
local retry = cost > capacity and -1 or math.max(1, math.ceil((cost - tokens) / rate / 1000))
return {0, math.floor(tokens / 1000000), retry, math.ceil((capacity - tokens) / rate / 1000)}
