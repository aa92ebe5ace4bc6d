--- @script cas.expire
--- @version 1.0.0
--- @owner totality
--- @summary Sets a time to live if the value is as expected
--- @key value string rw keep template="cas:{name}"
--- @arg expected text 0..1048576 pii
--- @arg ttl_ms int 1000..31536000000
--- @reply code:int
--- @code 1 SET
--- @code 0 DIFFERENT
--- @code -3 MISSING
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
keys(1)
local expected = text(1, 'expected', 0, 1048576)
local ttl = int(2, 'ttl_ms', 1000, 31536000000)
if bad then return bad end
local now = redis.call('GET', KEYS[1])
if not now then return {-3} end
if now ~= expected then return {0} end
redis.call('PEXPIRE', KEYS[1], ttl)
return {1}
