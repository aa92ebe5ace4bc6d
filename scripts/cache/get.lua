--- @script cache.get
--- @version 1.0.0
--- @owner totality
--- @summary Reads a cached value with its version
--- @key data hash r ttl template="cache:{name}"
--- @reply code:int version:int data:bytes
--- @code 1 HIT
--- @code 0 DELETED a tombstone
--- @code -3 MISSING
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=1
--- @server redis>=7.0 valkey>=7.2
--- @flags no-writes
--- @include "args"
--- @include "stored"
keys(1)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'v', 'd')
if not r[1] then return {-3, 0, ''} end
local version = whole(r[1])
if not version then return {-9, 0, ''} end
if not r[2] then return {0, version, ''} end
return {1, version, r[2]}
