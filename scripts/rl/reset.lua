--- @script rl.reset
--- @version 1.0.0
--- @owner totality
--- @summary Forgets a limiter's state
--- @key state any rw ttl template="rl:{subject}:<kind>"
--- @reply code:int
--- @code 1 RESET
--- @code 0 NOTHING there was no state
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=1
--- @server redis>=7.0 valkey>=7.2
--- @native UNLINK when="redis>=4.0" note="the same; the script exists for the typed call and the metrics"
--- @include "args"
keys(1)
if bad then return bad end
return {redis.call('UNLINK', KEYS[1])}
