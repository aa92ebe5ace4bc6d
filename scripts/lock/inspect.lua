--- @script lock.inspect
--- @version 1.0.0
--- @owner totality
--- @summary Says who holds a lock
--- @key lock hash r ttl template="lock:{resource}"
--- @reply code:int token:int ms:int holds:int owner:bytes
--- @code 1 HELD by owner, for ms more
--- @code 0 FREE nobody holds it
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
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'holds')
if not held[1] then return {0, 0, 0, 0, ''} end
local token = whole(held[2])
if not token then return {-9, 0, 0, 0, ''} end
return {1, token, math.max(0, redis.call('PTTL', KEYS[1])), whole(held[3]) or 1, held[1]}
