--- @script lb.around
--- @version 1.0.0
--- @owner totality
--- @summary Reads a member's rank and its neighbours
--- @key board zset r ttl template="lb:{board}:<period>"
--- @arg member text 1..200
--- @arg radius int 0..50
--- @reply code:int rank:int score:int first:int packed:bytes
--- @code 1 FOUND packed begins at rank first
--- @code -3 MISSING the member is not on the board
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(log n + radius) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @flags no-writes
--- @note packed is, for each neighbour, member and score, each as a netstring: length, ':', bytes, ','.
--- @include "args"
--- @include "packed"
keys(1)
local member = text(1, 'member', 1, 200)
local radius = int(2, 'radius', 0, 50)
if bad then return bad end
local rank = redis.call('ZREVRANK', KEYS[1], member)
if not rank then return {-3, 0, 0, 0, ''} end
local first = math.max(0, rank - radius)
local near = redis.call('ZREVRANGE', KEYS[1], first, rank + radius, 'WITHSCORES')
local out = {}
for i = 1, #near, 2 do
  out[#out + 1] = pack(near[i]) .. pack(math.floor(tonumber(near[i + 1]) / 2097152))
end
local own = math.floor(tonumber(redis.call('ZSCORE', KEYS[1], member)) / 2097152)
return {1, rank + 1, own, first + 1, table.concat(out)}
