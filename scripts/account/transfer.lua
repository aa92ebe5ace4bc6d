--- @script account.transfer
--- @version 1.0.0
--- @owner totality
--- @summary Moves an amount between two accounts of one group, once per transaction id
--- @key source string rw persistent template="account:{group}:<from>:balance"
--- @key target string rw persistent template="account:{group}:<to>:balance"
--- @key seen zset rw ttl template="account:{group}:seen"
--- @key journal list rw persistent template="account:{group}:journal"
--- @arg amount int 1..9007199254740991
--- @arg txid text 1..100 reqid
--- @arg keep_ms int 1000..2678400000
--- @arg journal_max int 1..10000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int source:int target:int
--- @code 1 MOVED
--- @code 2 REPEATED this id was booked within keep_ms
--- @code -4 INSUFFICIENT
--- @code -3 MISSING the source does not exist
--- @code -8 FULL the target would pass 2^53 - 1
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=14
--- @server redis>=7.0 valkey>=7.2
--- @note Both accounts are on one node because they share the group's tag. Between groups, debit and credit with one txid are two steps, not one.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(4)
local amount = int(1, 'amount', 1, 9007199254740991)
local txid = text(2, 'txid', 1, 100)
local keep = int(3, 'keep_ms', 1000, 2678400000)
local cap = int(4, 'journal_max', 1, 10000)
local now = now_ms(5)
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
local to = whole(redis.call('GET', KEYS[2]) or '0')
local booked = tonumber(redis.call('ZSCORE', KEYS[3], txid) or '0')
redis.call('LLEN', KEYS[4])
if not to then return {-9, 0, 0} end
if not raw then return {-3, 0, to} end
local from = whole(raw)
if not from then return {-9, 0, 0} end
if booked > now then return {2, from, to} end
if from < amount then return {-4, from, to} end
if amount > 9007199254740991 - to then return {-8, from, to} end
redis.call('ZADD', KEYS[3], digits(now + keep), txid)
local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', digits(now), 'LIMIT', 0, 100)
if #old > 0 then redis.call('ZREM', KEYS[3], unpack(old)) end
redis.call('PEXPIRE', KEYS[3], math.max(redis.call('PTTL', KEYS[3]), keep + 1000))
to = redis.call('INCRBY', KEYS[2], digits(amount))
from = redis.call('DECRBY', KEYS[1], digits(amount))
redis.call('LPUSH', KEYS[4], digits(now) .. '|' .. txid .. '|' .. digits(amount) .. '|' .. digits(from) .. '|' .. digits(to))
redis.call('LTRIM', KEYS[4], 0, cap - 1)
return {1, from, to}
