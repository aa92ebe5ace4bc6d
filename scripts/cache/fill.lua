--- @script cache.fill
--- @version 1.0.0
--- @owner totality
--- @summary Stores what the caller was asked to fill, and lets the waiting ones go on
--- @key data hash rw ttl template="cache:{name}"
--- @key lease string rw ttl template="cache:{name}:lease"
--- @arg owner text 1..200
--- @arg version int 1..9007199254740991
--- @arg data text 0..1048576 pii
--- @arg ttl_ms int 1000..2678400000
--- @reply code:int version:int
--- @code 1 STORED
--- @code 0 OLDER version, a newer one, is there; the lease is given back
--- @code -7 LOST the lease ended before; nothing was stored
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
--- @include "digits"
keys(2)
local owner = text(1, 'owner', 1, 200)
local version = int(2, 'version', 1, 9007199254740991)
local data = text(3, 'data', 0, 1048576)
local ttl = int(4, 'ttl_ms', 1000, 2678400000)
if bad then return bad end
local current = whole(redis.call('HGET', KEYS[1], 'v') or '0')
if not current then return {-9, 0} end
if redis.call('GET', KEYS[2]) ~= owner then return {-7, current} end
if version < current then
  redis.call('DEL', KEYS[2])
  return {0, current}
end
redis.call('HSET', KEYS[1], 'v', digits(version), 'd', data)
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('DEL', KEYS[2])
return {1, version}
