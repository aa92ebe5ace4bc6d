--- @script sem.release
--- @version 1.0.0
--- @owner totality
--- @summary Gives a semaphore's permit back
--- @key holders zset rw ttl template="sem:{resource}"
--- @arg holder text 1..200
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int
--- @code 1 RELEASED
--- @code 0 GONE the holder had none any more
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
keys(1)
local holder = text(1, 'holder', 1, 200)
local now = now_ms(2)
if bad then return bad end
local own = tonumber(redis.call('ZSCORE', KEYS[1], holder) or '-1')
if own >= 0 then redis.call('ZREM', KEYS[1], holder) end
return {own > now and 1 or 0}
