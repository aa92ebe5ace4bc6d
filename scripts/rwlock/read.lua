--- @script rwlock.read
--- @version 1.0.0
--- @owner totality
--- @summary Takes a shared lock: many readers, no writer
--- @key writer hash r ttl template="rw:{resource}:w"
--- @key readers zset rw ttl template="rw:{resource}:r"
--- @key fence string r persistent template="rw:{resource}:fence"
--- @key want string r ttl template="rw:{resource}:want"
--- @arg holder text 1..200 reqid
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int token:int ms:int readers:int kind:int
--- @code 1 ACQUIRED one reader more; token is that of the last writer
--- @code 2 REPEATED this holder reads already; its lease starts anew
--- @code 0 HELD kind 1: a writer holds it, 3: a writer waits; for ms more
--- @code -8 FULL 10000 readers
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=10
--- @server redis>=7.0 valkey>=7.2
--- @note A reader whose lease ran out no longer keeps writers away, whether it knows it or not.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(4)
local holder = text(1, 'holder', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local now = now_ms(3)
if bad then return bad end
local writer = redis.call('HGET', KEYS[1], 'owner')
local live = redis.call('ZCOUNT', KEYS[2], '(' .. digits(now), '+inf')
local token = whole(redis.call('GET', KEYS[3]) or '0')
local want = redis.call('GET', KEYS[4])
if not token then return {-9, 0, 0, 0, 0} end
if writer then
  return {0, token, math.max(0, redis.call('PTTL', KEYS[1])), live, 1}
end
local own = tonumber(redis.call('ZSCORE', KEYS[2], holder) or '0')
if own <= now then
  if want then
    return {0, token, math.max(0, redis.call('PTTL', KEYS[4])), live, 3}
  end
  if live >= 10000 then return {-8, token, 0, live, 2} end
  live = live + 1
end
redis.call('ZADD', KEYS[2], digits(now + lease), holder)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', digits(now))
redis.call('PEXPIRE', KEYS[2], math.max(redis.call('PTTL', KEYS[2]), lease + 1000))
return {own > now and 2 or 1, token, lease, live, 2}
