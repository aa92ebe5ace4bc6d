--- @script cache.put_if_newer
--- @version 1.0.0
--- @owner totality
--- @summary Stores a version of a cached value unless a newer one is there
--- @key data hash rw ttl template="cache:{name}"
--- @arg version int 1..9007199254740991
--- @arg kind word data|tombstone
--- @arg data text 0..1048576 pii
--- @arg ttl_ms int 1000..2678400000
--- @reply code:int version:int
--- @code 1 STORED
--- @code 2 REPEATED this version is there
--- @code 0 OLDER version, a newer one, is there
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note A tombstone remembers the version of a deletion, so that a late fill cannot bring the old value back.
--- @include "args"
--- @include "word"
--- @include "stored"
--- @include "digits"
keys(1)
local version = int(1, 'version', 1, 9007199254740991)
local kind = word(2, 'kind', 'data', 'tombstone')
local data = text(3, 'data', 0, 1048576)
local ttl = int(4, 'ttl_ms', 1000, 2678400000)
if bad then return bad end
local raw = redis.call('HGET', KEYS[1], 'v')
local current = whole(raw or '0')
if not current then return {-9, 0} end
if version == current then return {2, current} end
if version < current then return {0, current} end
if kind == 'data' then
  redis.call('HSET', KEYS[1], 'v', digits(version), 'd', data)
else
  redis.call('HSET', KEYS[1], 'v', digits(version))
  redis.call('HDEL', KEYS[1], 'd')
end
redis.call('PEXPIRE', KEYS[1], ttl)
return {1, version}
