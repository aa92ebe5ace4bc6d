--- @script counter.once
--- @version 1.0.0
--- @owner totality
--- @summary Counts each id once
--- @key counter string rw ttl template="counter:{name}"
--- @key seen set rw ttl template="counter:{name}:seen"
--- @arg by int 1..1000000000
--- @arg id text 1..200 reqid
--- @arg ttl_ms int 1000..2678400000
--- @arg max_ids int 1..1000000
--- @reply code:int value:int
--- @code 1 COUNTED
--- @code 2 REPEATED this id was counted before
--- @code -8 FULL there are max_ids ids
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=8
--- @server redis>=7.0 valkey>=7.2
--- @note Takes memory for every id until both keys end, ttl_ms after the first count. For large numbers of ids an approximate count (PFADD) takes 12 kB.
--- @include "args"
--- @include "stored"
keys(2)
local by = int(1, 'by', 1, 1000000000)
local id = text(2, 'id', 1, 200)
local ttl = int(3, 'ttl_ms', 1000, 2678400000)
local max = int(4, 'max_ids', 1, 1000000)
if bad then return bad end
local value = whole(redis.call('GET', KEYS[1]) or '0')
if not value or value > 9007199253740991 then return {-9, 0} end
if redis.call('SISMEMBER', KEYS[2], id) == 1 then return {2, value} end
if redis.call('SCARD', KEYS[2]) >= max then return {-8, value} end
redis.call('SADD', KEYS[2], id)
value = redis.call('INCRBY', KEYS[1], by)
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PEXPIRE', KEYS[2], ttl)
elseif redis.call('PTTL', KEYS[2]) < 0 then
  redis.call('PEXPIRE', KEYS[2], ttl)
end
return {1, value}
