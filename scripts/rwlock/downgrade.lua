--- @script rwlock.downgrade
--- @version 1.0.0
--- @owner totality
--- @summary Turns a write hold into a read hold without letting another writer in between
--- @key writer hash rw ttl template="rw:{resource}:w"
--- @key readers zset rw ttl template="rw:{resource}:r"
--- @arg holder text 1..200 reqid
--- @arg token int 1..9007199254740991
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int token:int ms:int
--- @code 1 DOWNGRADED the holder reads now
--- @code 2 REPEATED it reads already
--- @code 0 GONE the holder had nothing
--- @code -6 FENCED another writer holds it, with this token
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(2)
local holder = text(1, 'holder', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local lease = int(3, 'lease_ms', 1000, 86400000)
local now = now_ms(4)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
local reads = tonumber(redis.call('ZSCORE', KEYS[2], holder) or '0')
if not held[1] then
  if reads > now then return {2, token, reads - now} end
  return {0, 0, 0}
end
local current = whole(held[2])
if not current then return {-9, 0, 0} end
if held[1] ~= holder or current ~= token then
  return {-6, current, math.max(0, redis.call('PTTL', KEYS[1]))}
end
redis.call('ZADD', KEYS[2], digits(now + lease), holder)
redis.call('PEXPIRE', KEYS[2], math.max(redis.call('PTTL', KEYS[2]), lease + 1000))
redis.call('DEL', KEYS[1])
return {1, token, lease}
