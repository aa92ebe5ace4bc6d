--- @script counter.bounded
--- @version 1.0.0
--- @owner totality
--- @summary Counts up or down within bounds, or not at all
--- @key counter string rw keep template="counter:{name}"
--- @arg by sint -1000000000..1000000000
--- @arg lo sint -9007199254740991..9007199254740991
--- @arg hi sint -9007199254740991..9007199254740991
--- @arg ttl_ms int 0..2678400000
--- @reply code:int value:int
--- @code 1 COUNTED
--- @code 0 OUT_OF_BOUNDS nothing was changed
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @native INCREX when="redis>=8.8 valkey>=9.2" note="INCREX key BYINT by LBOUND lo UBOUND hi"
--- @note ttl_ms 0 leaves the time to live as it is.
--- @include "args"
--- @include "sint"
--- @include "signed"
--- @include "digits"
keys(1)
local by = sint(1, 'by', -1000000000, 1000000000)
local lo = sint(2, 'lo', -9007199254740991, 9007199254740991)
local hi = sint(3, 'hi', -9007199254740991, 9007199254740991)
local ttl = int(4, 'ttl_ms', 0, 2678400000)
if ttl > 0 and ttl < 1000 then
  bad = bad or {err = 'SCRIPTARG counter.bounded ttl_ms must be 0 or at least 1000'}
elseif lo > hi then
  bad = bad or {err = 'SCRIPTARG counter.bounded lo is above hi'}
end
if bad then return bad end
local value = signed(redis.call('GET', KEYS[1]) or '0')
if not value then return {-9, 0} end
if value + by < lo or value + by > hi then return {0, value} end
value = redis.call('INCRBY', KEYS[1], digits(by))
if ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
return {1, value}
