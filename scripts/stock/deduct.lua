--- @script stock.deduct
--- @version 1.0.0
--- @owner totality
--- @summary Takes from a stock if there is enough
--- @key stock string rw persistent template="stock:{item}"
--- @arg quantity int 1..1000000000
--- @reply code:int left:int
--- @code 1 TAKEN
--- @code -4 INSUFFICIENT left is what there is
--- @code -3 MISSING there is no such stock
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @note After a lost reply nobody can tell whether it was taken: where that matters, use stock.reserve, which has an id.
--- @include "args"
--- @include "stored"
keys(1)
local quantity = int(1, 'quantity', 1, 1000000000)
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
if not raw then return {-3, 0} end
local stock = whole(raw)
if not stock then return {-9, 0} end
if stock < quantity then return {-4, stock} end
return {1, redis.call('DECRBY', KEYS[1], quantity)}
