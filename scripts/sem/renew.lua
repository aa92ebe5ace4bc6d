--- @script sem.renew
--- @version 1.0.0
--- @owner totality
--- @summary Prolongs a semaphore's permit that is still held
--- @key holders zset rw ttl template="sem:{resource}"
--- @arg holder text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int ms:int
--- @code 1 RENEWED
--- @code -7 LOST the lease ended before
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local holder = text(1, 'holder', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local now = now_ms(3)
if bad then return bad end
local own = tonumber(redis.call('ZSCORE', KEYS[1], holder) or '0')
if own <= now then return {-7, 0} end
redis.call('ZADD', KEYS[1], 'XX', digits(now + lease), holder)
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + 1000))
return {1, lease}
