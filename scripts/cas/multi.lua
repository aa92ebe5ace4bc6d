--- @script cas.multi
--- @version 1.0.0
--- @owner totality
--- @summary Writes several values if all present ones are as expected
--- @key values... string rw keep template="cas:{group}:<name>"
--- @arg ttl_ms int 0..31536000000
--- @arg expected... text 0..65536 pii
--- @arg new... text 0..65536 pii
--- @reply code:int index:int
--- @code 1 WRITTEN index is the number of keys
--- @code 0 DIFFERENT the value at index is another one
--- @code -3 MISSING the key at index does not exist
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(n) max_commands=40 max_keys=20
--- @server redis>=7.0 valkey>=7.2
--- @note Expected and new values follow as pairs, in the order of the keys.
--- @include "args"
keys(1, 20)
local ttl = int(1, 'ttl_ms', 0, 31536000000)
if ttl > 0 and ttl < 1000 then
  bad = bad or {err = 'SCRIPTARG cas.multi ttl_ms must be 0 or at least 1000'}
end
local expected, new = {}, {}
for i = 1, math.min(#KEYS, 20) do
  expected[i] = text(2 * i, 'expected', 0, 65536)
  new[i] = text(2 * i + 1, 'new', 0, 65536)
end
if bad then return bad end
for i = 1, #KEYS do
  local now = redis.call('GET', KEYS[i])
  if not now then return {-3, i} end
  if now ~= expected[i] then return {0, i} end
end
for i = 1, #KEYS do
  if ttl > 0 then
    redis.call('SET', KEYS[i], new[i], 'PX', ttl)
  else
    redis.call('SET', KEYS[i], new[i], 'KEEPTTL')
  end
end
return {1, #KEYS}
