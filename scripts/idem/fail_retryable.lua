--- @script idem.fail_retryable
--- @version 1.0.0
--- @owner totality
--- @summary Ends an attempt so that the next one may try again
--- @key record hash rw ttl template="idem:{scope}:<key>"
--- @arg fingerprint text 1..256
--- @arg owner text 1..200
--- @arg result text 0..262144 pii
--- @arg ttl_ms int 1000..2678400000
--- @reply code:int attempt:int
--- @code 1 STORED
--- @code 2 REPEATED the same owner did it before
--- @code -1 MISMATCH http=422 the key was used with another request
--- @code -2 CONFLICT the request has ended otherwise
--- @code -3 MISSING there is no such request: its time to live ran out
--- @code -7 LOST another attempt took it over
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(1)
local fingerprint = text(1, 'fingerprint', 1, 256)
local owner = text(2, 'owner', 1, 200)
local result = text(3, 'result', 0, 262144)
local ttl = int(4, 'ttl_ms', 1000, 2678400000)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'fp', 'st', 'own', 'att')
if not r[1] and not r[2] then return {-3, 0} end
local attempt = whole(r[4])
if not r[1] or not attempt then return {-9, 0} end
if r[1] ~= fingerprint then return {-1, attempt} end
if r[2] == 'R' and r[3] == owner then return {2, attempt} end
if r[3] ~= owner then return {r[2] == 'P' and -7 or -2, attempt} end
if r[2] ~= 'P' then return {-2, attempt} end
redis.call('HSET', KEYS[1], 'st', 'R', 'res', result)
redis.call('PEXPIRE', KEYS[1], ttl)
return {1, attempt}
