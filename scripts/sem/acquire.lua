--- @script sem.acquire
--- @version 1.0.0
--- @owner totality
--- @summary Semaphore: at most so many holders, each with a lease
--- @key holders zset rw ttl template="sem:{resource}"
--- @arg holder text 1..200 reqid
--- @arg permits int 1..10000
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int
--- @code 1 ACQUIRED
--- @code 2 REPEATED the holder has it already; the lease starts anew
--- @code 0 REJECTED at the latest after retry_ms a lease ends
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=8
--- @server redis>=7.0 valkey>=7.2
--- @note Not fair: whoever asks when a permit is free gets it.
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local holder = text(1, 'holder', 1, 200)
local permits = int(2, 'permits', 1, 10000)
local lease = int(3, 'lease_ms', 1000, 86400000)
local now = now_ms(4)
if bad then return bad end
local from = '(' .. digits(now)
local live = redis.call('ZCOUNT', KEYS[1], from, '+inf')
local own = tonumber(redis.call('ZSCORE', KEYS[1], holder) or '0')
if own <= now and live >= permits then
  local free = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', live - permits, 1)
  return {0, 0, tonumber(free[2]) - now}
end
redis.call('ZADD', KEYS[1], digits(now + lease), holder)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now))
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + 1000))
if own > now then return {2, math.max(0, permits - live), 0} end
return {1, permits - live - 1, 0}
