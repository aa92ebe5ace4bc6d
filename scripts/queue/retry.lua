--- @script queue.retry
--- @version 1.0.0
--- @owner totality
--- @summary Puts a failed job off, or away when it failed too often
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key delayed zset rw persistent template="queue:{queue}:delayed"
--- @key dlq zset rw persistent template="queue:{queue}:dlq"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg id text 1..200
--- @arg token int 1..9007199254740991
--- @arg delay_ms int 0..2678400000
--- @arg max_attempts int 1..1000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int attempts:int
--- @code 1 DELAYED it comes back after delay_ms (delayed.promote)
--- @code 3 DEAD it had max_attempts and is in the dead letter queue
--- @code -7 LOST the lease ended, or the job is another's
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=8
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(4)
local id = text(1, 'id', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local delay = int(3, 'delay_ms', 0, 2678400000)
local max = int(4, 'max_attempts', 1, 1000)
local now = now_ms(5)
if bad then return bad end
local active = redis.call('ZSCORE', KEYS[1], id)
redis.call('ZCARD', KEYS[2])
redis.call('ZCARD', KEYS[3])
local m = redis.call('HMGET', KEYS[4], 't:' .. id, 'a:' .. id)
local attempts = tonumber(m[2] or '0')
if not active or tonumber(m[1] or '0') ~= token then return {-7, 0} end
local dead = attempts >= max
if dead then
  redis.call('ZADD', KEYS[3], digits(now), id)
else
  redis.call('ZADD', KEYS[2], digits(now + delay), id)
end
redis.call('ZREM', KEYS[1], id)
redis.call('HDEL', KEYS[4], 't:' .. id, 'w:' .. id)
return {dead and 3 or 1, attempts}
