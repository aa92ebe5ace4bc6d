--- @script stock.confirm
--- @version 1.0.0
--- @owner totality
--- @summary Makes a reservation final: what it took is sold
--- @key stock string r persistent template="stock:{item}"
--- @key reservations zset rw persistent template="stock:{item}:reservations"
--- @key amounts hash rw persistent template="stock:{item}:amounts"
--- @arg id text 1..200 reqid
--- @arg keep_ms int 1000..2678400000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int left:int
--- @code 1 CONFIRMED
--- @code 2 REPEATED it was confirmed before
--- @code -2 CONFLICT it was cancelled, or expired
--- @code -3 MISSING there is no such reservation, or its end was forgotten after keep_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(3)
local id = text(1, 'id', 1, 200)
local keep = int(2, 'keep_ms', 1000, 2678400000)
local now = now_ms(3)
if bad then return bad end
local stock = whole(redis.call('GET', KEYS[1]) or '0')
if not stock then return {-9, 0} end
local amount = redis.call('HGET', KEYS[3], id)
if not amount then return {-3, stock} end
if amount == 'confirmed' then return {2, stock} end
if not whole(amount) then return {-2, stock} end
redis.call('ZADD', KEYS[2], digits(now + keep), id)
redis.call('HSET', KEYS[3], id, 'confirmed')
return {1, stock}
