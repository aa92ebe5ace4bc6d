--- @script breaker.allow
--- @version 1.0.0
--- @owner totality
--- @summary Circuit breaker: may this call go out?
--- @key state hash rw ttl template="breaker:{service}"
--- @arg open_ms int 1000..3600000
--- @arg probes int 1..100
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int state:int retry_ms:int
--- @code 1 CLOSED go
--- @code 2 PROBE go, as one of the few that try whether it works again
--- @code 0 OPEN do not
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=5
--- @server redis>=7.0 valkey>=7.2
--- @note state is 0 closed, 1 open, 2 half open. Probes that never report are given out again after open_ms.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(1)
local open = int(1, 'open_ms', 1000, 3600000)
local probes = int(2, 'probes', 1, 100)
local now = now_ms(3)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'state', 'until', 'probes')
if not r[1] or r[1] == '0' then return {1, 0, 0} end
local ends, out = whole(r[2]), whole(r[3] or '0')
if not ends or not out or (r[1] ~= '1' and r[1] ~= '2') then return {-9, 0, 0} end
if r[1] == '1' and now < ends then return {0, 1, ends - now} end
if r[1] == '1' or now >= ends then
  -- Half open, anew when the probes before gave no answer.
  redis.call('HSET', KEYS[1], 'state', 2, 'until', digits(now + open), 'probes', 1, 'good', 0)
  redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), 2 * open + 1000))
  return {2, 2, 0}
end
if out >= probes then return {0, 2, ends - now} end
redis.call('HSET', KEYS[1], 'probes', out + 1)
return {2, 2, 0}
