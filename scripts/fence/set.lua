--- @script fence.set
--- @version 1.0.0
--- @owner totality
--- @summary Writes a value only for a token that is not older than the newest seen
--- @key max string rw ttl template="fence:{resource}:max"
--- @key target string rw ttl template="fence:{resource}:value"
--- @arg token int 1..9007199254740991
--- @arg value text 0..1048576 pii
--- @arg ttl_ms int 1000..31536000000
--- @arg keep_ms int 1000..31536000000
--- @reply code:int max:int
--- @code 1 WRITTEN max is the token now
--- @code -6 FENCED a newer token, max, was here
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @note keep_ms has to outlive every holder that may still wake up with an old token.
--- @include "args"
--- @include "stored"
--- @include "digits"
keys(2)
local token = int(1, 'token', 1, 9007199254740991)
local value = text(2, 'value', 0, 1048576)
local ttl = int(3, 'ttl_ms', 1000, 31536000000)
local keep = int(4, 'keep_ms', 1000, 31536000000)
if bad then return bad end
local max = whole(redis.call('GET', KEYS[1]) or '0')
if not max then return {-9, 0} end
if redis.call('TYPE', KEYS[2]).ok ~= 'string' and redis.call('EXISTS', KEYS[2]) == 1 then return {-9, max} end
if token < max then return {-6, max} end
redis.call('SET', KEYS[2], value, 'PX', ttl)
redis.call('SET', KEYS[1], digits(token), 'PX', keep)
return {1, token}
