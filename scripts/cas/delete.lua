--- @script cas.delete
--- @version 1.0.0
--- @owner totality
--- @summary Deletes a key if its value is as expected
--- @key value string rw keep template="cas:{name}"
--- @arg expected text 0..1048576 pii
--- @reply code:int
--- @code 1 DELETED
--- @code 0 DIFFERENT
--- @code -3 MISSING
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @native DELEX when="redis>=8.4 valkey>=9.2" note="DELEX key IFEQ expected"
--- @include "args"
keys(1)
local expected = text(1, 'expected', 0, 1048576)
if bad then return bad end
local now = redis.call('GET', KEYS[1])
if not now then return {-3} end
if now ~= expected then return {0} end
redis.call('DEL', KEYS[1])
return {1}
