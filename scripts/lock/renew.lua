--- @script lock.renew
--- @version 1.0.0
--- @owner totality
--- @summary Prolongs a lock that is still held; never revives one that ended
--- @key lock hash rw ttl template="lock:{resource}"
--- @arg owner text 1..200
--- @arg token int 1..9007199254740991
--- @arg lease_ms int 1000..86400000
--- @arg mode word reset|atleast
--- @reply code:int token:int ms:int
--- @code 1 RENEWED the lock ends in ms
--- @code 0 GONE nobody holds it
--- @code -6 FENCED another holder has it, with this token
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "word"
--- @include "stored"
keys(1)
local owner = text(1, 'owner', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local lease = int(3, 'lease_ms', 1000, 86400000)
local mode = word(4, 'mode', 'reset', 'atleast')
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
if not held[1] then return {0, 0, 0} end
local current = whole(held[2])
if not current then return {-9, 0, 0} end
local left = redis.call('PTTL', KEYS[1])
if held[1] ~= owner or current ~= token then return {-6, current, left} end
if mode == 'atleast' and left >= lease then return {1, token, left} end
redis.call('PEXPIRE', KEYS[1], lease)
return {1, token, lease}
