--- @script stock.deduct_multi
--- @version 1.0.0
--- @owner totality
--- @summary Takes from several stocks, all or none
--- @key stocks... string rw persistent template="stock:{group}:<item>"
--- @arg quantity... int 1..1000000000
--- @reply code:int index:int left:int
--- @code 1 TAKEN index is the number of stocks
--- @code -4 INSUFFICIENT the stock at index has only left
--- @code -3 MISSING the stock at index does not exist
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry unsafe
--- @cost O(n) max_commands=100 max_keys=50
--- @server redis>=7.0 valkey>=7.2
--- @note All stocks share the hash tag of their group. Items of different groups are on different nodes: reserve each and confirm or cancel all.
--- @include "args"
--- @include "stored"
keys(1, 50)
local quantities = {}
for i = 1, math.min(#KEYS, 50) do
  quantities[i] = int(i, 'quantity', 1, 1000000000)
end
if bad then return bad end
for i = 1, #KEYS do
  local raw = redis.call('GET', KEYS[i])
  if not raw then return {-3, i, 0} end
  local stock = whole(raw)
  if not stock then return {-9, i, 0} end
  if stock < quantities[i] then return {-4, i, stock} end
end
for i = 1, #KEYS do
  redis.call('DECRBY', KEYS[i], quantities[i])
end
return {1, #KEYS, 0}
