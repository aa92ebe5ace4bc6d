--- @script rlock.acquire
--- @version 1.0.0
--- @owner totality
--- @summary Takes a lock that its holder may enter again; a client's retry never counts twice
--- @key lock hash rw ttl template="lock:{resource}"
--- @key fence string rw persistent template="lock:{resource}:fence"
--- @arg owner text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg request text 1..200 reqid
--- @reply code:int token:int ms:int holds:int
--- @code 1 ACQUIRED the first hold
--- @code 2 REPEATED this request holds it already
--- @code 3 REENTERED one hold more
--- @code 0 HELD by the holder with this token, for ms more
--- @code -8 FULL the owner has 100 holds
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @note Each hold has a request of its own, named again at release: a lost reply followed by a retry cannot leave a hold that nobody knows of.
--- @include "args"
--- @include "stored"
keys(2)
local owner = text(1, 'owner', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local request = text(3, 'request', 1, 200)
if bad then return bad end
local hold = 'hold:' .. request
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'holds', hold)
if not whole(redis.call('GET', KEYS[2]) or '0') then return {-9, 0, 0, 0} end
if held[1] then
  local token, holds = whole(held[2]), whole(held[3])
  if not token or not holds then return {-9, 0, 0, 0} end
  local left = redis.call('PTTL', KEYS[1])
  if held[1] ~= owner then
    if left < 0 then
      redis.call('PEXPIRE', KEYS[1], lease)
      left = lease
    end
    return {0, token, left, 0}
  end
  if not held[4] and holds >= 100 then return {-8, token, left, holds} end
  if not held[4] then
    holds = holds + 1
    redis.call('HSET', KEYS[1], hold, 1, 'holds', holds)
  end
  -- An inner hold never shortens the outer one.
  local ms = math.max(left, lease)
  redis.call('PEXPIRE', KEYS[1], ms)
  return {held[4] and 2 or 3, token, ms, holds}
end
local time = redis.call('TIME')
local token = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'owner', owner, 'token', token, 'holds', 1, hold, 1,
  'since', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
redis.call('PEXPIRE', KEYS[1], lease)
return {1, token, lease, 1}
