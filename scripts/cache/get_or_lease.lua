--- @script cache.get_or_lease
--- @version 1.0.0
--- @owner totality
--- @summary Reads a cached value, or makes one caller fill it while the others wait
--- @key data hash r ttl template="cache:{name}"
--- @key lease string rw ttl template="cache:{name}:lease"
--- @arg owner text 1..200 reqid
--- @arg lease_ms int 1000..600000
--- @reply code:int version:int ms:int data:bytes
--- @code 1 HIT
--- @code 2 FILL this caller fills it, within ms, by cache.fill
--- @code 0 WAIT another caller fills it; ask again, at the latest after ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(2)
local owner = text(1, 'owner', 1, 200)
local lease = int(2, 'lease_ms', 1000, 600000)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'v', 'd')
local version = whole(r[1] or '0')
if not version then return {-9, 0, 0, ''} end
if r[2] then return {1, version, 0, r[2]} end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= owner then
  local left = redis.call('PTTL', KEYS[2])
  if left >= 0 then return {0, version, left, ''} end
end
redis.call('SET', KEYS[2], owner, 'PX', lease)
return {2, version, lease, ''}
