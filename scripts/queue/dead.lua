--- @script queue.dead
--- @version 1.0.0
--- @owner totality
--- @summary Puts a job away that cannot be done
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key dlq zset rw persistent template="queue:{queue}:dlq"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg id text 1..200
--- @arg token int 1..9007199254740991
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int attempts:int
--- @code 1 BURIED
--- @code -7 LOST the lease ended, or the job is another's
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(3)
local id = text(1, 'id', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local now = now_ms(3)
if bad then return bad end
local active = redis.call('ZSCORE', KEYS[1], id)
redis.call('ZCARD', KEYS[2])
local m = redis.call('HMGET', KEYS[3], 't:' .. id, 'a:' .. id)
if not active or tonumber(m[1] or '0') ~= token then return {-7, 0} end
redis.call('ZADD', KEYS[2], digits(now), id)
redis.call('ZREM', KEYS[1], id)
redis.call('HDEL', KEYS[3], 't:' .. id, 'w:' .. id)
return {1, tonumber(m[2] or '0')}
