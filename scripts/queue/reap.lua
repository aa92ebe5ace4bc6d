--- @script queue.reap
--- @version 1.0.0
--- @owner totality
--- @summary Takes jobs back whose lease has ended, a few at a time
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key dlq zset rw persistent template="queue:{queue}:dlq"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg batch int 1..100
--- @arg max_attempts int 1..1000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int requeued:int dead:int more:int
--- @code 1 DONE more is 1 when there is work left
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(batch log n) max_commands=406
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(4)
local batch = int(1, 'batch', 1, 100)
local max = int(2, 'max_attempts', 1, 1000)
local now = now_ms(3)
if bad then return bad end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', digits(now), 'LIMIT', 0, batch + 1)
redis.call('ZCARD', KEYS[2])
redis.call('ZCARD', KEYS[3])
redis.call('HLEN', KEYS[4])
local requeued, dead = 0, 0
for i = 1, math.min(batch, #ids) do
  local id = ids[i]
  local m = redis.call('HMGET', KEYS[4], 'a:' .. id, 's:' .. id)
  if tonumber(m[1] or '0') >= max then
    redis.call('ZADD', KEYS[3], digits(now), id)
    dead = dead + 1
  else
    redis.call('ZADD', KEYS[2], m[2] or '0', id)
    requeued = requeued + 1
  end
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[4], 't:' .. id, 'w:' .. id)
end
return {1, requeued, dead, #ids > batch and 1 or 0}
