--- @script rl.leaky_queue
--- @version 1.0.0
--- @owner totality
--- @summary Shapes traffic: says how long a caller has to wait for its turn
--- @key state string rw ttl template="rl:{subject}:leaky_queue"
--- @arg rate int 1..1000000
--- @arg per_ms int 1..86400000
--- @arg max_wait_ms int 0..3600000
--- @arg now_us int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int wait_ms:int reset_ms:int
--- @code 1 QUEUED go on after wait_ms; the place is taken
--- @code 0 REJECTED http=429 retry_after=wait_ms the queue is longer than max_wait_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_us"
--- @include "stored"
--- @include "digits"
keys(1)
local rate = int(1, 'rate', 1, 1000000)
local per = int(2, 'per_ms', 1, 86400000)
local patience = int(3, 'max_wait_ms', 0, 3600000) * 1000
local now = now_us(4)
if per * 1000 < rate then
  bad = bad or {err = 'SCRIPTARG rl.leaky_queue rate is above one call a microsecond'}
end
if bad then return bad end
local step = math.ceil(per * 1000 / rate)
local turn = whole(redis.call('GET', KEYS[1]) or '0')
if not turn then return {-9, 0, 0, 0} end
turn = math.max(turn, now)
local wait = turn - now
if wait > patience then
  return {0, 0, math.ceil((wait - patience) / 1000), math.ceil(wait / 1000)}
end
redis.call('SET', KEYS[1], digits(turn + step), 'PX', math.ceil((wait + step) / 1000) + 1000)
return {1, math.floor((patience - wait) / step), math.ceil(wait / 1000), math.ceil((wait + step) / 1000)}
