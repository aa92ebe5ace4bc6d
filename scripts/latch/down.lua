--- @script latch.down
--- @version 1.0.0
--- @owner totality
--- @summary Counts a latch down, each participant once
--- @key latch hash rw ttl template="latch:{name}"
--- @arg id text 1..200 reqid
--- @reply code:int left:int
--- @code 1 COUNTED
--- @code 2 REPEATED this participant was counted before
--- @code 3 OPENED this was the last one
--- @code -3 MISSING the latch is not set, or its time ran out
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(1)
local id = text(1, 'id', 1, 200)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'left', 'id:' .. id)
if not r[1] then return {-3, 0} end
local left = whole(r[1])
if not left then return {-9, 0} end
if r[2] or left == 0 then return {2, left} end
redis.call('HSET', KEYS[1], 'id:' .. id, 1, 'left', left - 1)
return {left == 1 and 3 or 1, left - 1}
