--- @script account.credit
--- @version 1.0.0
--- @owner totality
--- @summary Adds to an account, once per transaction id
--- @key balance string rw persistent template="account:{account}:balance"
--- @key seen zset rw ttl template="account:{account}:seen"
--- @key journal list rw persistent template="account:{account}:journal"
--- @arg amount int 1..9007199254740991
--- @arg txid text 1..100 reqid
--- @arg keep_ms int 1000..2678400000
--- @arg journal_max int 1..10000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int balance:int
--- @code 1 CREDITED
--- @code 2 REPEATED this id was booked within keep_ms
--- @code -8 FULL the balance would pass 2^53 - 1
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=12
--- @server redis>=7.0 valkey>=7.2
--- @note A missing account begins at 0.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(3)
local amount = int(1, 'amount', 1, 9007199254740991)
local txid = text(2, 'txid', 1, 100)
local keep = int(3, 'keep_ms', 1000, 2678400000)
local cap = int(4, 'journal_max', 1, 10000)
local now = now_ms(5)
if bad then return bad end
local balance = whole(redis.call('GET', KEYS[1]) or '0')
local booked = tonumber(redis.call('ZSCORE', KEYS[2], txid) or '0')
redis.call('LLEN', KEYS[3])
if not balance then return {-9, 0} end
if booked > now then return {2, balance} end
if amount > 9007199254740991 - balance then return {-8, balance} end
redis.call('ZADD', KEYS[2], digits(now + keep), txid)
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', digits(now), 'LIMIT', 0, 100)
if #old > 0 then redis.call('ZREM', KEYS[2], unpack(old)) end
redis.call('PEXPIRE', KEYS[2], math.max(redis.call('PTTL', KEYS[2]), keep + 1000))
balance = redis.call('INCRBY', KEYS[1], digits(amount))
redis.call('LPUSH', KEYS[3], digits(now) .. '|' .. txid .. '|' .. digits(amount) .. '|' .. digits(balance))
redis.call('LTRIM', KEYS[3], 0, cap - 1)
return {1, balance}
