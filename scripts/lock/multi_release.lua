--- @script lock.multi_release
--- @version 1.0.0
--- @owner totality
--- @summary Gives back what lock.multi took, as far as it is still the caller's
--- @key locks... hash rw ttl template="lock:{group}:<item>"
--- @arg owner text 1..200
--- @arg token int 1..9007199254740991
--- @reply code:int released:int
--- @code 1 RELEASED all of them
--- @code 2 PARTLY only this many were still the caller's
--- @code 0 GONE none was
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(n) max_commands=40 max_keys=20
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "stored"
keys(1, 20)
local owner = text(1, 'owner', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
if bad then return bad end
local mine = {}
for i = 1, #KEYS do
  local held = redis.call('HMGET', KEYS[i], 'owner', 'token')
  if held[1] == owner and whole(held[2]) == token then mine[#mine + 1] = KEYS[i] end
end
for i = 1, #mine do
  redis.call('DEL', mine[i])
end
return {#mine == #KEYS and 1 or #mine > 0 and 2 or 0, #mine}
