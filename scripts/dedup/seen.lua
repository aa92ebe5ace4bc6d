--- @script dedup.seen
--- @version 1.0.0
--- @owner totality
--- @summary Says whether an id was seen within a time, in bounded memory
--- @key seen zset rw ttl template="dedup:{name}"
--- @arg id text 1..200
--- @arg ttl_ms int 1000..2678400000
--- @arg max_ids int 1..1000000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int ids:int dropped:int
--- @code 1 NEW
--- @code 0 SEEN
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(log n) max_commands=9
--- @server redis>=7.0 valkey>=7.2
--- @note Beyond max_ids the oldest is forgotten (dropped), so a very old duplicate may pass. A crash between this call and the work loses the work: idem.begin has states for that.
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(1)
local id = text(1, 'id', 1, 200)
local ttl = int(2, 'ttl_ms', 1000, 2678400000)
local max = int(3, 'max_ids', 1, 1000000)
local now = now_ms(4)
if bad then return bad end
local ends = tonumber(redis.call('ZSCORE', KEYS[1], id) or '0')
if ends > now then return {0, redis.call('ZCARD', KEYS[1]), 0} end
redis.call('ZADD', KEYS[1], digits(now + ttl), id)
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', digits(now), 'LIMIT', 0, 100)
if #old > 0 then redis.call('ZREM', KEYS[1], unpack(old)) end
local dropped = 0
local count = redis.call('ZCARD', KEYS[1])
if count > max then
  dropped = math.min(100, count - max)
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, dropped - 1)
end
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), ttl + 1000))
return {1, count - dropped, dropped}
