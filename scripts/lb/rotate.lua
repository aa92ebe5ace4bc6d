--- @script lb.rotate
--- @version 1.0.0
--- @owner totality
--- @summary Puts a finished board away under another name for a while
--- @key board zset rw ttl template="lb:{board}:<period>"
--- @key archive zset rw ttl template="lb:{board}:archive:<period>"
--- @arg ttl_ms int 1000..31536000000
--- @reply code:int members:int
--- @code 1 ROTATED
--- @code 2 REPEATED the archive is there and the board is gone
--- @code 0 EMPTY there is no board
--- @code -2 CONFLICT both are there
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
keys(2)
local ttl = int(1, 'ttl_ms', 1000, 31536000000)
if bad then return bad end
local count = redis.call('ZCARD', KEYS[1])
local archived = redis.call('ZCARD', KEYS[2])
if count == 0 then return {archived > 0 and 2 or 0, archived} end
if archived > 0 then return {-2, archived} end
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('PEXPIRE', KEYS[2], ttl)
return {1, count}
