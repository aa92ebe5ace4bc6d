--- @script leader.claim
--- @version 1.0.0
--- @owner totality
--- @summary Becomes or stays the leader for a lease
--- @key lock hash rw ttl template="leader:{group}"
--- @key fence string rw persistent template="leader:{group}:fence"
--- @arg node text 1..200 reqid
--- @arg lease_ms int 1000..86400000
--- @reply code:int term:int ms:int
--- @code 1 ELECTED this node leads from now on; term is greater than every term before
--- @code 2 LEADING it leads already; its lease starts anew
--- @code 0 FOLLOWING another node leads, for ms more
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=6
--- @server redis>=7.0 valkey>=7.2
--- @note A node that was paused may believe to lead after its lease ended: send the term with everything the leader does.
--- @include "args"
--- @include "stored"
keys(2)
local node = text(1, 'node', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
if not whole(redis.call('GET', KEYS[2]) or '0') then return {-9, 0, 0} end
if held[1] then
  local term = whole(held[2])
  if not term then return {-9, 0, 0} end
  local left = redis.call('PTTL', KEYS[1])
  if held[1] == node or left < 0 then
    redis.call('PEXPIRE', KEYS[1], lease)
    left = lease
  end
  return {held[1] == node and 2 or 0, term, left}
end
local term = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'owner', node, 'token', term)
redis.call('PEXPIRE', KEYS[1], lease)
return {1, term, lease}
