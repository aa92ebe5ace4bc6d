--- @script conc.acquire
--- @version 1.0.0
--- @owner totality
--- @summary Concurrency limit: at most so many at the same time, weighed by cost
--- @key holders zset rw ttl template="conc:{subject}"
--- @arg holder text 1..200 reqid
--- @arg permits int 1..10000
--- @arg lease_ms int 1000..86400000
--- @arg cost int 1..100 default=1
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ACQUIRED for reset_ms
--- @code 2 REPEATED the holder has its permits already; the lease starts anew
--- @code 0 REJECTED http=429 retry_after=retry_ms at the latest then a lease ends
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(cost log n) max_commands=107
--- @server redis>=7.0 valkey>=7.2
--- @note A holder that dies gives its permits back when its lease ends, one that works longer than its lease has to renew.
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local holder = text(1, 'holder', 1, 200)
local permits = int(2, 'permits', 1, 10000)
local lease = int(3, 'lease_ms', 1000, 86400000)
local cost = int(4, 'cost', 1, 100)
local now = now_ms(5)
if bad then return bad end
local from = '(' .. digits(now)
local live = redis.call('ZCOUNT', KEYS[1], from, '+inf')
local own = tonumber(redis.call('ZSCORE', KEYS[1], '1:' .. holder) or '0')
if own <= now and live + cost > permits then
  local remaining = math.max(0, permits - live)
  if cost > permits then return {0, remaining, -1, 0} end
  local free = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', live + cost - permits - 1, 1)
  return {0, remaining, tonumber(free[2]) - now, 0}
end
for i = 1, cost do
  -- A repeated call may not take permits that it did not have.
  if own <= now or redis.call('ZSCORE', KEYS[1], i .. ':' .. holder) then
    redis.call('ZADD', KEYS[1], digits(now + lease), i .. ':' .. holder)
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now))
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + 1000))
if own > now then return {2, math.max(0, permits - live), 0, lease} end
return {1, permits - live - cost, 0, lease}
