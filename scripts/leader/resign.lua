--- @script leader.resign
--- @version 1.0.0
--- @owner totality
--- @summary Gives leadership up, if it is still the caller's
--- @key lock hash rw ttl template="leader:{group}"
--- @arg node text 1..200
--- @arg term int 1..9007199254740991
--- @reply code:int term:int
--- @code 1 RESIGNED nobody leads now
--- @code 0 GONE nobody led
--- @code -6 FENCED another node leads, in this term
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(1)
local node = text(1, 'node', 1, 200)
local term = int(2, 'term', 1, 9007199254740991)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
if not held[1] then return {0, 0} end
local current = whole(held[2])
if not current then return {-9, 0} end
if held[1] ~= node or current ~= term then return {-6, current} end
redis.call('DEL', KEYS[1])
return {1, term}
