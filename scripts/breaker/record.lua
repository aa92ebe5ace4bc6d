--- @script breaker.record
--- @version 1.0.0
--- @owner totality
--- @summary Circuit breaker: how did a call go?
--- @key state hash rw ttl template="breaker:{service}"
--- @arg ok int 0..1
--- @arg threshold int 1..100000
--- @arg window_ms int 1000..3600000
--- @arg open_ms int 1000..3600000
--- @arg needed int 1..100
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int state:int failures:int
--- @code 1 RECORDED
--- @code 2 OPENED this failure opened it
--- @code 3 CLOSED this success closed it
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note It opens at threshold failures within a window, or at any failure while half open; it closes after needed good probes.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(1)
local ok = int(1, 'ok', 0, 1)
local threshold = int(2, 'threshold', 1, 100000)
local window = int(3, 'window_ms', 1000, 3600000)
local open = int(4, 'open_ms', 1000, 3600000)
local needed = int(5, 'needed', 1, 100)
local now = now_ms(6)
if bad then return bad end
local r = redis.call('HMGET', KEYS[1], 'state', 'failures', 'window', 'good')
local state = r[1] or '0'
local failures, began, good = whole(r[2] or '0'), whole(r[3] or '0'), whole(r[4] or '0')
if not failures or not began or not good or (state ~= '0' and state ~= '1' and state ~= '2') then return {-9, 0, 0} end
local ttl = math.max(window, 2 * open) + 1000
if ok == 1 then
  if state ~= '2' then return {1, tonumber(state), failures} end
  if good + 1 >= needed then
    redis.call('DEL', KEYS[1])
    return {3, 0, 0}
  end
  redis.call('HSET', KEYS[1], 'good', good + 1)
  redis.call('PEXPIRE', KEYS[1], ttl)
  return {1, 2, failures}
end
-- A late answer of a call from before it opened.
if state == '1' then return {1, 1, failures} end
if now >= began + window then failures, began = 0, now end
failures = failures + 1
if state == '2' or failures >= threshold then
  redis.call('HSET', KEYS[1], 'state', 1, 'until', digits(now + open), 'failures', 0, 'window', digits(now), 'probes', 0, 'good', 0)
  redis.call('PEXPIRE', KEYS[1], ttl)
  return {2, 1, failures}
end
redis.call('HSET', KEYS[1], 'state', 0, 'failures', failures, 'window', digits(began))
redis.call('PEXPIRE', KEYS[1], ttl)
return {1, 0, failures}
