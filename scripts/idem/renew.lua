--- @script idem.renew
--- @version 1.0.0
--- @owner totality
--- @summary Prolongs the lease of an attempt that works longer
--- @key record hash rw ttl template="idem:{scope}:<key>"
--- @arg fingerprint text 1..256
--- @arg owner text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int attempt:int
--- @code 1 RENEWED
--- @code -1 MISMATCH http=422 the key was used with another request
--- @code -2 CONFLICT the request has ended
--- @code -3 MISSING there is no such request
--- @code -7 LOST another attempt took it over
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(1)
local fingerprint = text(1, 'fingerprint', 1, 256)
local owner = text(2, 'owner', 1, 200)
local lease = int(3, 'lease_ms', 1000, 86400000)
local now = now_ms(4)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'fp', 'st', 'own', 'att')
if not r[1] and not r[2] then return {-3, 0} end
local attempt = whole(r[4])
if not r[1] or not attempt then return {-9, 0} end
if r[1] ~= fingerprint then return {-1, attempt} end
if r[2] ~= 'P' then return {-2, attempt} end
if r[3] ~= owner then return {-7, attempt} end
redis.call('HSET', KEYS[1], 'lease', digits(now + lease))
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + 1000))
return {1, attempt}
