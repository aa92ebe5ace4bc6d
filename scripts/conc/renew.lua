--- @script conc.renew
--- @version 1.0.0
--- @owner totality
--- @summary Prolongs permits that are still held; never revives lost ones
--- @key holders zset rw ttl template="conc:{subject}"
--- @arg holder text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg cost int 1..100 default=1
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int ms:int
--- @code 1 RENEWED for ms
--- @code -7 LOST the lease ended before
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(cost log n) max_commands=205
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local holder = text(1, 'holder', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local cost = int(3, 'cost', 1, 100)
local now = now_ms(4)
if bad then return bad end
for i = 1, cost do
  local own = tonumber(redis.call('ZSCORE', KEYS[1], i .. ':' .. holder) or '0')
  if own <= now then return {-7, 0} end
end
for i = 1, cost do
  redis.call('ZADD', KEYS[1], 'XX', digits(now + lease), i .. ':' .. holder)
end
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + 1000))
return {1, lease}
