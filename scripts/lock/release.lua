--- @script lock.release
--- @version 1.0.0
--- @owner totality
--- @summary Gives a lock back, if it is still the caller's
--- @key lock hash rw ttl template="lock:{resource}"
--- @arg owner text 1..200
--- @arg token int 1..9007199254740991
--- @arg request text 1..200 reqid
--- @arg keep_ms int 1000..86400000
--- @reply code:int token:int ms:int
--- @code 1 RELEASED it was held for ms; the same answer again for the same request within keep_ms
--- @code 0 GONE nobody holds it: the lease ran out before
--- @code -6 FENCED another holder has it, with this token, for ms more
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @native DELEX when="redis>=8.4" note="when no fencing and no repeatable answer is asked"
--- @note GONE is not always an error: the work may just have taken longer than the lease. Whether that did harm, only the fencing token at the resource decides.
--- @note The remembered answer lives in the lock's own key: it is lost when a new holder's shorter lease ends first.
--- @include "args"
--- @include "stored"
keys(1)
local owner = text(1, 'owner', 1, 200)
local token = int(2, 'token', 1, 9007199254740991)
local request = text(3, 'request', 1, 200)
local keep = int(4, 'keep_ms', 1000, 86400000)
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'since', 'done', 'done_token', 'done_ms')
if held[4] == request and whole(held[5]) == token then
  return {1, token, whole(held[6]) or 0}
end
if not held[1] then return {0, 0, 0} end
local current, since = whole(held[2]), whole(held[3])
if not current or not since then return {-9, 0, 0} end
if held[1] ~= owner or current ~= token then
  return {-6, current, math.max(0, redis.call('PTTL', KEYS[1]))}
end
local time = redis.call('TIME')
local ms = math.max(0, time[1] * 1000 + math.floor(time[2] / 1000) - since)
redis.call('HSET', KEYS[1], 'done', request, 'done_token', string.format('%.0f', token),
  'done_ms', string.format('%.0f', ms))
redis.call('HDEL', KEYS[1], 'owner', 'token', 'request', 'since')
redis.call('PEXPIRE', KEYS[1], keep)
return {1, token, ms}
