--- @script stock.expire
--- @version 1.0.0
--- @owner totality
--- @summary Takes back reservations whose lease has ended, a few at a time
--- @key stock string rw persistent template="stock:{item}"
--- @key reservations zset rw persistent template="stock:{item}:reservations"
--- @key amounts hash rw persistent template="stock:{item}:amounts"
--- @arg batch int 1..100
--- @arg keep_ms int 1000..2678400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int expired:int forgotten:int more:int left:int
--- @code 1 DONE more is 1 when there is work left
--- @code -3 MISSING there is no such stock
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(batch log n) max_commands=305
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(3)
local batch = int(1, 'batch', 1, 100)
local keep = int(2, 'keep_ms', 1000, 2678400000)
local now = now_ms(3)
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
if not raw then return {-3, 0, 0, 0, 0} end
local stock = whole(raw)
if not stock then return {-9, 0, 0, 0, 0} end
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', digits(now), 'LIMIT', 0, batch + 1)
redis.call('HLEN', KEYS[3])
local expired, forgotten = 0, 0
for i = 1, math.min(batch, #ids) do
  local id = ids[i]
  local quantity = whole(redis.call('HGET', KEYS[3], id))
  if quantity then
    redis.call('ZADD', KEYS[2], digits(now + keep), id)
    redis.call('HSET', KEYS[3], id, 'expired')
    stock = redis.call('INCRBY', KEYS[1], quantity)
    expired = expired + 1
  else
    redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
    forgotten = forgotten + 1
  end
end
return {1, expired, forgotten, #ids > batch and 1 or 0, stock}
