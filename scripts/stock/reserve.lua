--- @script stock.reserve
--- @version 1.0.0
--- @owner totality
--- @summary Takes from a stock for a while, under an id
--- @key stock string rw persistent template="stock:{item}"
--- @key reservations zset rw persistent template="stock:{item}:reservations"
--- @key amounts hash rw persistent template="stock:{item}:amounts"
--- @arg id text 1..200 reqid
--- @arg quantity int 1..1000000000
--- @arg lease_ms int 1000..2678400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int left:int
--- @code 1 RESERVED
--- @code 2 REPEATED this id is reserved already
--- @code -2 CONFLICT this id has ended, or was reserved with another quantity
--- @code -4 INSUFFICIENT
--- @code -3 MISSING there is no such stock
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=7
--- @server redis>=7.0 valkey>=7.2
--- @note stock + everything reserved + everything confirmed stays the same. A reservation past its lease is still held until stock.expire takes it back: call that now and then.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(3)
local id = text(1, 'id', 1, 200)
local quantity = int(2, 'quantity', 1, 1000000000)
local lease = int(3, 'lease_ms', 1000, 2678400000)
local now = now_ms(4)
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
if not raw then return {-3, 0} end
local stock = whole(raw)
if not stock then return {-9, 0} end
local until_ms = redis.call('ZSCORE', KEYS[2], id)
local amount = redis.call('HGET', KEYS[3], id)
if amount then
  if whole(amount) == quantity and until_ms then return {2, stock} end
  return {-2, stock}
end
if stock < quantity then return {-4, stock} end
redis.call('ZADD', KEYS[2], digits(now + lease), id)
redis.call('HSET', KEYS[3], id, digits(quantity))
return {1, redis.call('DECRBY', KEYS[1], quantity)}
