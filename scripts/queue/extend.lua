--- @script queue.extend
--- @version 1.0.0
--- @owner totality
--- @summary Prolongs the lease of a job at work
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key meta hash r persistent template="queue:{queue}:meta"
--- @arg id text 1..200
--- @arg token int 1..9007199254740991
--- @arg lease_ms int 1000..86400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int ms:int
--- @code 1 EXTENDED
--- @code -7 LOST the lease ended, or the job is another's
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(2)
local id = text(1, 'id', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local lease = int(3, 'lease_ms', 1000, 86400000)
local now = now_ms(4)
if bad then return bad end
local active = redis.call('ZSCORE', KEYS[1], id)
local current = redis.call('HGET', KEYS[2], 't:' .. id)
if not active or tonumber(current or '0') ~= token then return {-7, 0} end
redis.call('ZADD', KEYS[1], 'XX', digits(now + lease), id)
return {1, lease}
