--- @script queue.push_unique
--- @version 1.0.0
--- @owner totality
--- @summary Adds a job unless one for the same thing waits already
--- @key ready zset rw persistent template="queue:{queue}:ready"
--- @key jobs hash rw persistent template="queue:{queue}:jobs"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @key unique hash rw persistent template="queue:{queue}:unique"
--- @arg id text 1..200 reqid
--- @arg body text 0..65536 pii
--- @arg priority int 0..100
--- @arg max_length int 1..10000000
--- @arg unique_key text 1..200
--- @arg ttl_ms int 1000..2678400000
--- @arg mode word keep|replace|extend
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int length:int
--- @code 1 PUSHED
--- @code 2 DUPLICATE there is one, and it was left as it is
--- @code 3 REPLACED the waiting one has the new body
--- @code 4 EXTENDED the waiting one keeps others away for ttl_ms from now
--- @code -8 FULL
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=11
--- @server redis>=7.0 valkey>=7.2
--- @note A key is taken until its job is acknowledged or dropped, at most for ttl_ms.
--- @include "args"
--- @include "word"
--- @include "now_ms"
--- @include "digits"
keys(4)
local id = text(1, 'id', 1, 200)
local body = text(2, 'body', 0, 65536)
local priority = int(3, 'priority', 0, 100)
local max = int(4, 'max_length', 1, 10000000)
local unique = text(5, 'unique_key', 1, 200)
local ttl = int(6, 'ttl_ms', 1000, 2678400000)
local mode = word(7, 'mode', 'keep', 'replace', 'extend')
local now = now_ms(8)
if bad then return bad end
local length = redis.call('ZCARD', KEYS[1])
redis.call('HLEN', KEYS[3])
local entry = redis.call('HGET', KEYS[4], unique)
local taken = redis.call('HEXISTS', KEYS[2], id) == 1
if entry then
  local ends, other = string.match(entry, '^(%d+):(.*)$')
  if ends and tonumber(ends) > now and other ~= id then
    if mode == 'replace' and redis.call('ZSCORE', KEYS[1], other) then
      redis.call('HSET', KEYS[2], other, body)
      return {3, length}
    elseif mode == 'extend' then
      redis.call('HSET', KEYS[4], unique, digits(now + ttl) .. ':' .. other)
      return {4, length}
    end
    return {2, length}
  end
end
if taken then return {2, length} end
if length >= max then return {-8, length} end
local score = priority * 10000000000000 + redis.call('HINCRBY', KEYS[3], 'seq', 1)
redis.call('HSET', KEYS[3], 's:' .. id, digits(score), 'u:' .. id, unique)
redis.call('HSET', KEYS[4], unique, digits(now + ttl) .. ':' .. id)
redis.call('HSET', KEYS[2], id, body)
redis.call('ZADD', KEYS[1], digits(score), id)
return {1, length + 1}
