--- @script queue.stats
--- @version 1.0.0
--- @owner totality
--- @summary Says how many jobs wait, run, are put off and are dead
--- @key ready zset r persistent template="queue:{queue}:ready"
--- @key active zset r persistent template="queue:{queue}:active"
--- @key delayed zset r persistent template="queue:{queue}:delayed"
--- @key dlq zset r persistent template="queue:{queue}:dlq"
--- @reply code:int ready:int active:int delayed:int dead:int
--- @code 1 OK
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @flags no-writes
--- @include "args"
keys(4)
if bad then return bad end
return {1, redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[3]),
  redis.call('ZCARD', KEYS[4])}
