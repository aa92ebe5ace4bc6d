--- @script dlq.requeue
--- @version 1.0.0
--- @owner totality
--- @summary Gives dead jobs another life, oldest first
--- @key dlq zset rw persistent template="queue:{queue}:dlq"
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg batch int 1..100
--- @reply code:int moved:int left:int
--- @code 1 DONE
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry unsafe
--- @cost O(batch log n) max_commands=404
--- @server redis>=7.0 valkey>=7.2
--- @note Their attempts begin at 0 again.
--- @include "args"
keys(3)
local batch = int(1, 'batch', 1, 100)
if bad then return bad end
local ids = redis.call('ZRANGE', KEYS[1], 0, batch - 1)
redis.call('ZCARD', KEYS[2])
redis.call('HLEN', KEYS[3])
for i = 1, #ids do
  redis.call('ZADD', KEYS[2], redis.call('HGET', KEYS[3], 's:' .. ids[i]) or '0', ids[i])
  redis.call('ZREM', KEYS[1], ids[i])
  redis.call('HDEL', KEYS[3], 'a:' .. ids[i])
end
return {1, #ids, redis.call('ZCARD', KEYS[1])}
