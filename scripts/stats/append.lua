--- @script stats.append
--- @version 1.0.0
--- @owner totality
--- @summary Adds to a total and keeps the newest entries of its journal
--- @key total string rw ttl template="stats:{name}:total"
--- @key journal list rw ttl template="stats:{name}:journal"
--- @arg amount sint -1000000000000..1000000000000
--- @arg at_ms int 0..9007199254740991
--- @arg id text 1..100 pii
--- @arg cap int 1..10000
--- @arg ttl_ms int 1000..31536000000
--- @reply code:int total:int length:int
--- @code 1 ADDED
--- @code -8 FULL the total would pass 2^53 - 1
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=8
--- @server redis>=7.0 valkey>=7.2
--- @note Amounts are whole numbers of the smallest unit: INCRBYFLOAT cannot add 0.1 ten times to 1. Entries are at|id|amount, newest first.
--- @include "args"
--- @include "sint"
--- @include "signed"
--- @include "digits"
keys(2)
local amount = sint(1, 'amount', -1000000000000, 1000000000000)
local at = int(2, 'at_ms', 0, 9007199254740991)
local id = text(3, 'id', 1, 100)
local cap = int(4, 'cap', 1, 10000)
local ttl = int(5, 'ttl_ms', 1000, 31536000000)
if bad then return bad end
local total = signed(redis.call('GET', KEYS[1]) or '0')
redis.call('LLEN', KEYS[2])
if not total then return {-9, 0, 0} end
if math.abs(total + amount) > 9007199254740991 then return {-8, total, 0} end
total = redis.call('INCRBY', KEYS[1], digits(amount))
redis.call('LPUSH', KEYS[2], digits(at) .. '|' .. id .. '|' .. digits(amount))
redis.call('LTRIM', KEYS[2], 0, cap - 1)
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PEXPIRE', KEYS[2], ttl)
return {1, total, redis.call('LLEN', KEYS[2])}
