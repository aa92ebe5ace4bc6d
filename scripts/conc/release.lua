--- @script conc.release
--- @version 1.0.0
--- @owner totality
--- @summary Gives permits back
--- @key holders zset rw ttl template="conc:{subject}"
--- @arg holder text 1..200
--- @arg cost int 1..100 default=1
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int released:int
--- @code 1 RELEASED
--- @code 0 GONE the holder had none any more
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(cost log n) max_commands=202
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
keys(1)
local holder = text(1, 'holder', 1, 200)
local cost = int(2, 'cost', 1, 100)
local now = now_ms(3)
if bad then return bad end
local released = 0
for i = 1, cost do
  local own = tonumber(redis.call('ZSCORE', KEYS[1], i .. ':' .. holder) or '-1')
  if own > now then released = released + 1 end
  if own >= 0 then redis.call('ZREM', KEYS[1], i .. ':' .. holder) end
end
return {released > 0 and 1 or 0, released}
