--- @script queue.push
--- @version 1.0.0
--- @owner totality
--- @summary Adds a job, once per id; low priorities first, first in first out within one
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key jobs hash rw persistent template="queue:{queue}:jobs"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @arg id text 1..200 reqid
--- @arg body text 0..65536 pii
--- @arg priority int 0..100
--- @arg max_length int 1..10000000
--- @reply code:int length:int
--- @code 1 PUSHED
--- @code 2 REPEATED a job with this id is somewhere in the queue
--- @code -8 FULL
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @note At least once: a job whose worker dies runs again. Its effects elsewhere are not part of the queue.
--- @include "args"
--- @include "digits"
keys(3)
local id = text(1, 'id', 1, 200)
local body = text(2, 'body', 0, 65536)
local priority = int(3, 'priority', 0, 100)
local max = int(4, 'max_length', 1, 10000000)
if bad then return bad end
local length = redis.call('ZCARD', KEYS[1])
redis.call('HLEN', KEYS[3])
if redis.call('HEXISTS', KEYS[2], id) == 1 then return {2, length} end
if length >= max then return {-8, length} end
local score = priority * 10000000000000 + redis.call('HINCRBY', KEYS[3], 'seq', 1)
redis.call('HSET', KEYS[3], 's:' .. id, digits(score))
redis.call('HSET', KEYS[2], id, body)
redis.call('ZADD', KEYS[1], digits(score), id)
return {1, length + 1}
