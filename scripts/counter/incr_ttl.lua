--- @script counter.incr_ttl
--- @version 1.0.0
--- @owner totality
--- @summary Counts, with a time to live from the first count on
--- @key counter string rw ttl template="counter:{name}"
--- @arg by int 1..1000000000
--- @arg ttl_ms int 1000..2678400000
--- @reply code:int value:int ms:int
--- @code 1 COUNTED
--- @code -8 FULL the value would pass 2^53 - 1
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @native INCREX when="redis>=8.8 valkey>=9.2" note="INCREX key BYINT by PX ttl ENX"
--- @note A counter without a time to live gets one.
--- @include "args"
--- @include "stored"
keys(1)
local by = int(1, 'by', 1, 1000000000)
local ttl = int(2, 'ttl_ms', 1000, 2678400000)
if bad then return bad end
local value = whole(redis.call('GET', KEYS[1]) or '0')
if not value then return {-9, 0, 0} end
if by > 9007199254740991 - value then return {-8, value, 0} end
value = redis.call('INCRBY', KEYS[1], by)
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ttl)
  left = ttl
end
return {1, value, left}
