--- @script idem.begin
--- @version 1.0.0
--- @owner totality
--- @summary Opens, takes over or replays an idempotent request
--- @key record hash rw ttl template="idem:{scope}:<key>"
--- @arg fingerprint text 1..256
--- @arg owner text 1..200 reqid
--- @arg lease_ms int 1000..86400000
--- @arg ttl_ms int 1000..2678400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int attempt:int ms:int result:bytes
--- @code 1 CREATED run the request; the lease is ms
--- @code 3 TAKEN_OVER run it: the attempt before failed or its lease ran out
--- @code 0 IN_PROGRESS http=409 retry_after=ms another attempt is at work for ms more
--- @code 2 COMPLETED answer with the stored result
--- @code 4 FAILED answer with the stored error, for good
--- @code -1 MISMATCH http=422 the key was used with another request
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @note Redis knows which attempt may answer, not whether its effects elsewhere happened: a take-over may run them a second time unless they are idempotent themselves.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(1)
local fingerprint = text(1, 'fingerprint', 1, 256)
local owner = text(2, 'owner', 1, 200)
local lease = int(3, 'lease_ms', 1000, 86400000)
local ttl = int(4, 'ttl_ms', 1000, 2678400000)
local now = now_ms(5)
if ttl < lease then
  bad = bad or {err = 'SCRIPTARG idem.begin ttl_ms must not be below lease_ms'}
end
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'fp', 'st', 'own', 'lease', 'att', 'res')
if not r[1] and not r[2] then
  redis.call('HSET', KEYS[1], 'fp', fingerprint, 'st', 'P', 'own', owner, 'lease', digits(now + lease), 'att', 1)
  redis.call('PEXPIRE', KEYS[1], ttl + 1000)
  return {1, 1, lease, ''}
end
local ends, attempt = whole(r[4]), whole(r[5])
if not r[1] or not ends or not attempt then return {-9, 0, 0, ''} end
if r[1] ~= fingerprint then return {-1, attempt, 0, ''} end
local left = redis.call('PTTL', KEYS[1])
if r[2] == 'C' then return {2, attempt, math.max(0, left), r[6] or ''} end
if r[2] == 'F' then return {4, attempt, math.max(0, left), r[6] or ''} end
if r[2] ~= 'P' and r[2] ~= 'R' then return {-9, 0, 0, ''} end
if r[2] == 'P' and r[3] ~= owner and ends > now then return {0, attempt, ends - now, ''} end
local code = 1
if r[2] == 'R' or r[3] ~= owner then
  code, attempt = 3, attempt + 1
end
redis.call('HSET', KEYS[1], 'st', 'P', 'own', owner, 'lease', digits(now + lease), 'att', digits(attempt))
redis.call('PEXPIRE', KEYS[1], math.max(left, ttl + 1000))
return {code, attempt, lease, ''}
