--- @script lock.multi
--- @version 1.0.0
--- @owner totality
--- @summary Takes several locks at once, all or none, under one fencing token
--- @key fence string rw persistent template="lock:{group}:fence"
--- @key locks... hash rw ttl template="lock:{group}:<item>"
--- @arg owner text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg request text 1..200 reqid
--- @reply code:int index:int token:int ms:int
--- @code 1 ACQUIRED all; index is their number
--- @code 2 REPEATED this request has them already; the leases start anew
--- @code 0 HELD the lock at index is another's for ms more, none was taken
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(n) max_commands=82 max_keys=21
--- @server redis>=7.0 valkey>=7.2
--- @note All locks share the hash tag of their group, so they live on one node: that is what makes "all or none" possible.
--- @include "args"
--- @include "stored"
keys(2, 21)
local owner = text(1, 'owner', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local request = text(3, 'request', 1, 200)
if bad then return bad end
if not whole(redis.call('GET', KEYS[1]) or '0') then return {-9, 0, 0, 0} end
local mine, first = 0, 0
for i = 2, #KEYS do
  local held = redis.call('HMGET', KEYS[i], 'owner', 'token', 'request')
  if held[1] then
    local token = whole(held[2])
    if not token then return {-9, i - 1, 0, 0} end
    if held[1] ~= owner or held[3] ~= request then
      local left = redis.call('PTTL', KEYS[i])
      if left < 0 then
        redis.call('PEXPIRE', KEYS[i], lease)
        left = lease
      end
      return {0, i - 1, token, left}
    end
    mine, first = mine + 1, token
  end
end
local code, token = 2, first
if mine < #KEYS - 1 then
  code, token = 1, redis.call('INCR', KEYS[1])
end
local time = redis.call('TIME')
local since = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
for i = 2, #KEYS do
  if code == 1 then
    redis.call('HSET', KEYS[i], 'owner', owner, 'token', token, 'request', request, 'since', since)
  end
  redis.call('PEXPIRE', KEYS[i], lease)
end
return {code, #KEYS - 1, token, lease}
