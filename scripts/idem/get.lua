--- @script idem.get
--- @version 1.0.0
--- @owner totality
--- @summary Reads the state of an idempotent request
--- @key record hash r ttl template="idem:{scope}:<key>"
--- @arg fingerprint text 1..256
--- @reply code:int attempt:int ms:int result:bytes
--- @code 0 IN_PROGRESS
--- @code 2 COMPLETED
--- @code 4 FAILED
--- @code 5 RETRYABLE
--- @code -1 MISMATCH http=422 the key was used with another request
--- @code -3 MISSING
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @flags no-writes
--- @include "args"
--- @include "stored"
keys(1)
local fingerprint = text(1, 'fingerprint', 1, 256)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'fp', 'st', 'att', 'res')
if not r[1] and not r[2] then return {-3, 0, 0, ''} end
local attempt = whole(r[3])
local code = ({P = 0, C = 2, F = 4, R = 5})[r[2] or '']
if not r[1] or not attempt or not code then return {-9, 0, 0, ''} end
if r[1] ~= fingerprint then return {-1, attempt, 0, ''} end
return {code, attempt, math.max(0, redis.call('PTTL', KEYS[1])), code > 0 and r[4] or ''}
