--- @script fence.check
--- @version 1.0.0
--- @owner totality
--- @summary Remembers the newest token and refuses older ones, before work on something else
--- @key max string rw ttl template="fence:{resource}:max"
--- @arg token int 1..9007199254740991
--- @arg keep_ms int 1000..31536000000
--- @reply code:int max:int
--- @code 1 CURRENT no newer token was seen
--- @code -6 FENCED a newer token, max, was here
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @note The work after it is not part of it: where the resource can compare tokens itself, let it.
--- @include "args"
--- @include "stored"
--- @include "digits"
keys(1)
local token = int(1, 'token', 1, 9007199254740991)
local keep = int(2, 'keep_ms', 1000, 31536000000)
if bad then return bad end
local max = whole(redis.call('GET', KEYS[1]) or '0')
if not max then return {-9, 0} end
if token < max then return {-6, max} end
redis.call('SET', KEYS[1], digits(token), 'PX', keep)
return {1, token}
