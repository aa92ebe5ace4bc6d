--- @script queue.claim
--- @version 1.0.0
--- @owner totality
--- @summary Hands jobs to a worker for a lease
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key jobs hash r persistent template="queue:{queue}:jobs"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg worker text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg count int 1..50
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int count:int packed:bytes
--- @code 1 CLAIMED
--- @code 0 EMPTY nothing is ready
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(count log n) max_commands=355
--- @server redis>=7.0 valkey>=7.2
--- @note packed is, for each job, its id, token, attempt and body, each as a netstring: length, ':', bytes, ','.
--- @note If the reply is lost, the jobs come back when their lease ends (queue.reap).
--- @include "args"
--- @include "now_ms"
--- @include "digits"
--- @include "packed"
keys(4)
local worker = text(1, 'worker', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local count = int(3, 'count', 1, 50)
local now = now_ms(4)
if bad then return bad end
local ids = redis.call('ZRANGE', KEYS[1], 0, count - 1)
redis.call('ZCARD', KEYS[2])
redis.call('HLEN', KEYS[4])
local bodies = {}
for i = 1, #ids do
  bodies[i] = redis.call('HGET', KEYS[3], ids[i])
end
local out = {}
for i = 1, #ids do
  local id = ids[i]
  if bodies[i] then
    local token = redis.call('HINCRBY', KEYS[4], 'seq', 1)
    local attempt = redis.call('HINCRBY', KEYS[4], 'a:' .. id, 1)
    redis.call('HSET', KEYS[4], 't:' .. id, token, 'w:' .. id, worker)
    redis.call('ZADD', KEYS[2], digits(now + lease), id)
    out[#out + 1] = pack(id) .. pack(token) .. pack(attempt) .. pack(bodies[i])
  end
  redis.call('ZREM', KEYS[1], id)
end
return {#out > 0 and 1 or 0, #out, table.concat(out)}
