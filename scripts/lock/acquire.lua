--- @script lock.acquire
--- @version 1.0.0
--- @owner totality
--- @summary Takes a lock for a lease, with a fencing token that grows with every new holder
--- @key lock hash rw ttl template="lock:{resource}"
--- @key fence string rw persistent template="lock:{resource}:fence"
--- @arg owner text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg request text 1..200 reqid
--- @reply code:int token:int ms:int holds:int
--- @code 1 ACQUIRED the lock is yours for ms; its token is greater than every token before
--- @code 2 REPEATED this request has it already; the lease starts anew
--- @code 0 HELD by the holder with this token, for ms more
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @note A process that pauses longer than its lease no longer holds the lock and does not know it: hand the token to the resource and let fence.check refuse older ones.
--- @note A failover may lose the last writes, the fence counter among them. WAIT narrows that window, nothing closes it.
--- @include "args"
--- @include "stored"
keys(2)
local owner = text(1, 'owner', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local request = text(3, 'request', 1, 200)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'request')
if not whole(redis.call('GET', KEYS[2]) or '0') then return {-9, 0, 0, 0} end
if held[1] then
  local token = whole(held[2])
  if not token then return {-9, 0, 0, 0} end
  if held[1] == owner and held[3] == request then
    redis.call('PEXPIRE', KEYS[1], lease)
    return {2, token, lease, 1}
  end
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    -- A holder that never ends would lock everyone out for good.
    redis.call('PEXPIRE', KEYS[1], lease)
    left = lease
  end
  return {0, token, left, 0}
end
local time = redis.call('TIME')
local token = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'owner', owner, 'token', token, 'request', request,
  'since', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
redis.call('PEXPIRE', KEYS[1], lease)
return {1, token, lease, 1}
