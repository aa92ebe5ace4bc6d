--- @script delayed.promote
--- @version 1.0.0
--- @owner totality
--- @summary Makes due jobs ready, a few at a time
--- @key delayed zset rw persistent template="queue:{queue}:delayed"
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key meta hash r persistent template="queue:{queue}:meta"
--- @arg batch int 1..100
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int moved:int next_ms:int
--- @code 1 DONE next_ms is when the next one is due, 0 when it is already, -1 when there is none
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(batch log n) max_commands=305
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(3)
local batch = int(1, 'batch', 1, 100)
local now = now_ms(2)
if bad then return bad end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', digits(now), 'LIMIT', 0, batch)
redis.call('ZCARD', KEYS[2])
redis.call('HLEN', KEYS[3])
for i = 1, #ids do
  redis.call('ZADD', KEYS[2], redis.call('HGET', KEYS[3], 's:' .. ids[i]) or '0', ids[i])
  redis.call('ZREM', KEYS[1], ids[i])
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {1, #ids, first[2] and math.max(0, tonumber(first[2]) - now) or -1}
