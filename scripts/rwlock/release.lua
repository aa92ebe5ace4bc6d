--- @script rwlock.release
--- @version 1.1.0
--- @owner totality
--- @summary Ends a read or a write hold
--- @key writer hash rw ttl template="rw:{resource}:w"
--- @key readers zset rw ttl template="rw:{resource}:r"
--- @arg holder text 1..200
--- @arg token int 0..9007199254740991
--- @reply code:int kind:int
--- @code 1 RELEASED kind 1: a write hold, 2: a read hold
--- @code 0 GONE the holder has none
--- @code -6 FENCED the holder writes now with another token
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(log n) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note Give the token of the write hold; for a read hold any token (0).
--- @include "args"
--- @include "stored"
keys(2)
local holder = text(1, 'holder', 1, 200)
local token = int(2, 'token', 0, 9007199254740991)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
local reads = redis.call('ZSCORE', KEYS[2], holder)
if held[1] == holder then
  if whole(held[2]) ~= token then return {-6, 1} end
  redis.call('DEL', KEYS[1])
  return {1, 1}
end
if not reads then return {0, 0} end
local t = redis.call('TIME')
redis.call('ZREM', KEYS[2], holder)
-- A hold whose lease has ended kept nobody away any more.
if tonumber(reads) <= t[1] * 1000 + math.floor(t[2] / 1000) then return {0, 0} end
return {1, 2}
