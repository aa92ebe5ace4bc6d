--- @script cas.set
--- @version 1.0.0
--- @owner totality
--- @summary Writes a value if the present one is as expected
--- @key value string rw keep template="cas:{name}"
--- @arg expected text 0..1048576 pii
--- @arg new text 0..1048576 pii
--- @arg ttl_ms int 0..31536000000
--- @arg missing word refuse|create
--- @reply code:int
--- @code 1 WRITTEN
--- @code 0 DIFFERENT the present value is another one
--- @code -3 MISSING there is none, and missing is refuse
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @native SET when="redis>=8.4 valkey>=8.1" note="SET key new IFEQ expected"
--- @note ttl_ms 0 leaves the time to live as it is. After a lost reply compare with the new value: if it is there, it was written, unless someone wrote the same.
--- @include "args"
--- @include "word"
keys(1)
local expected = text(1, 'expected', 0, 1048576)
local new = text(2, 'new', 0, 1048576)
local ttl = int(3, 'ttl_ms', 0, 31536000000)
local missing = word(4, 'missing', 'refuse', 'create')
if ttl > 0 and ttl < 1000 then
  bad = bad or {err = 'SCRIPTARG cas.set ttl_ms must be 0 or at least 1000'}
end
if bad then return bad end
local now = redis.call('GET', KEYS[1])
if not now and missing == 'refuse' then return {-3} end
if now and now ~= expected then return {0} end
if ttl > 0 then
  redis.call('SET', KEYS[1], new, 'PX', ttl)
else
  redis.call('SET', KEYS[1], new, 'KEEPTTL')
end
return {1}
