--- @script rlock.release
--- @version 1.0.0
--- @owner totality
--- @summary Ends one hold of a re-entrant lock; the last one frees it
--- @key lock hash rw ttl template="lock:{resource}"
--- @arg owner text 1..200
--- @arg token int 1..9007199254740991
--- @arg request text 1..200 reqid
--- @arg keep_ms int 1000..86400000
--- @reply code:int token:int holds:int
--- @code 1 RELEASED holds are left; 0 means that the lock is free
--- @code 2 REPEATED this hold had ended already
--- @code 0 GONE nobody holds it
--- @code -6 FENCED another holder has it, with this token
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note The request is the one that the hold was acquired with.
--- @include "args"
--- @include "stored"
keys(1)
local owner = text(1, 'owner', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local request = text(3, 'request', 1, 200)
local keep = int(4, 'keep_ms', 1000, 86400000)
if bad then return bad end
local hold = 'hold:' .. request
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'holds', hold, 'done', 'done_token')
if held[5] == request and whole(held[6]) == token then return {2, token, 0} end
if not held[1] then return {0, 0, 0} end
local current, holds = whole(held[2]), whole(held[3])
if not current or not holds then return {-9, 0, 0} end
if held[1] ~= owner or current ~= token then return {-6, current, 0} end
if not held[4] then return {2, token, holds} end
if holds > 1 then
  redis.call('HSET', KEYS[1], 'holds', holds - 1)
  redis.call('HDEL', KEYS[1], hold)
  return {1, token, holds - 1}
end
redis.call('HSET', KEYS[1], 'done', request, 'done_token', string.format('%.0f', token))
redis.call('HDEL', KEYS[1], 'owner', 'token', 'holds', 'since', hold)
redis.call('PEXPIRE', KEYS[1], keep)
return {1, token, 0}
