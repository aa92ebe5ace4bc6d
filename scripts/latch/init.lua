--- @script latch.init
--- @version 1.0.0
--- @owner totality
--- @summary Sets a count-down latch, unless there is one
--- @key latch hash rw ttl template="latch:{name}"
--- @arg count int 1..1000
--- @arg ttl_ms int 1000..2678400000
--- @reply code:int left:int
--- @code 1 SET
--- @code 0 EXISTS left are missing still
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(1)
local count = int(1, 'count', 1, 1000)
local ttl = int(2, 'ttl_ms', 1000, 2678400000)
if bad then return bad end
local raw = redis.call('HGET', KEYS[1], 'left')
if raw then
  local left = whole(raw)
  if not left then return {-9, 0} end
  return {0, left}
end
redis.call('HSET', KEYS[1], 'left', count)
redis.call('PEXPIRE', KEYS[1], ttl)
return {1, count}
