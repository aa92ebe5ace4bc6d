--- @script lb.trim
--- @version 1.0.0
--- @owner totality
--- @summary Removes the lowest of a board, a few at a time
--- @key board zset rw ttl template="lb:{board}:<period>"
--- @arg keep int 1..10000000
--- @arg batch int 1..1000
--- @reply code:int removed:int left:int
--- @code 1 DONE
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(batch log n) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
keys(1)
local keep = int(1, 'keep', 1, 10000000)
local batch = int(2, 'batch', 1, 1000)
if bad then return bad end
local count = redis.call('ZCARD', KEYS[1])
local removed = math.max(0, math.min(batch, count - keep))
if removed > 0 then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, removed - 1) end
return {1, removed, count - removed}
