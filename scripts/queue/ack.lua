--- @script queue.ack
--- @version 1.0.0
--- @owner totality
--- @summary Ends a job that was done
--- @key active zset rw persistent template="queue:{queue}:active"
--- @key jobs hash rw persistent template="queue:{queue}:jobs"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @key unique hash rw persistent template="queue:{queue}:unique"
--- @arg id text 1..200
--- @arg token int 1..9007199254740991
--- @reply code:int
--- @code 1 DONE
--- @code -3 MISSING there is no such job: it was acknowledged before
--- @code -7 LOST the lease ended and the job is another's or waits again
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=8
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
keys(4)
local id = text(1, 'id', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
if bad then return bad end
local active = redis.call('ZSCORE', KEYS[1], id)
local exists = redis.call('HEXISTS', KEYS[2], id)
local m = redis.call('HMGET', KEYS[3], 't:' .. id, 'u:' .. id)
local entry = redis.call('HGET', KEYS[4], m[2] or '')
if exists == 0 then return {-3} end
if not active or tonumber(m[1] or '0') ~= token then return {-7} end
redis.call('ZREM', KEYS[1], id)
redis.call('HDEL', KEYS[2], id)
redis.call('HDEL', KEYS[3], 's:' .. id, 'a:' .. id, 't:' .. id, 'w:' .. id, 'u:' .. id)
if m[2] and entry and string.match(entry, '^%d+:(.*)$') == id then redis.call('HDEL', KEYS[4], m[2]) end
return {1}
