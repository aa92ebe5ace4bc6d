--- @script rl.sliding_log
--- @version 1.0.0
--- @owner totality
--- @summary Sliding window, exact: remembers every admitted request
--- @key log zset rw ttl template="rl:{subject}:sliding_log"
--- @arg limit int 1..10000
--- @arg window_ms int 1000..2678400000
--- @arg request text 1..200 reqid
--- @arg cost int 1..100 default=1
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ALLOWED
--- @code 2 REPEATED this request was admitted before and is counted once
--- @code 0 REJECTED http=429 retry_after=retry_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(limit) memory, O(log n) time max_commands=107
--- @server redis>=7.0 valkey>=7.2
--- @note Takes memory for every admitted request of the window: for large limits use rl.sliding_counter or rl.gcra.
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local limit = int(1, 'limit', 1, 10000)
local window = int(2, 'window_ms', 1000, 2678400000)
local request = text(3, 'request', 1, 200)
local cost = int(4, 'cost', 1, 100)
local now = now_ms(5)
if bad then return bad end
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
-- Time never goes back: a server clock that was set back must not admit more.
if last[2] then now = math.max(now, tonumber(last[2])) end
if now > 9007199254740991 then return {-9, 0, 0, 0} end
local from = '(' .. digits(now - window)
local live = redis.call('ZCOUNT', KEYS[1], from, '+inf')
local reset = last[2] and math.max(0, tonumber(last[2]) + window - now) or 0
local seen = tonumber(redis.call('ZSCORE', KEYS[1], '1:' .. request) or '-1')
if seen > now - window then return {2, math.max(0, limit - live), 0, reset} end
if live + cost > limit then
  if cost > limit then return {0, math.max(0, limit - live), -1, reset} end
  local free = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', live + cost - limit - 1, 1)
  return {0, math.max(0, limit - live), tonumber(free[2]) + window - now, reset}
end
for i = 1, cost do
  redis.call('ZADD', KEYS[1], digits(now), i .. ':' .. request)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now - window))
redis.call('PEXPIRE', KEYS[1], window + 1000)
return {1, limit - live - cost, 0, window}
