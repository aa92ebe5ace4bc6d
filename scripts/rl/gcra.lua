--- @script rl.gcra
--- @version 1.0.0
--- @owner totality
--- @summary Generic cell rate algorithm: a smooth limiter in one number (leaky bucket as a meter)
--- @key state string rw ttl template="rl:{subject}:gcra"
--- @arg limit int 1..1000000
--- @arg period_ms int 1..86400000
--- @arg burst int 1..1000000
--- @arg cost int 0..1000000 default=1
--- @arg now_us int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ALLOWED
--- @code 0 REJECTED http=429 retry_after=retry_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=3
--- @server redis>=7.0 valkey>=7.2
--- @note The distance between calls is rounded up to whole microseconds: above ten thousand calls a second up to one hundredth fewer pass.
--- @include "args"
--- @include "now_us"
--- @include "stored"
--- @include "digits"
keys(1)
local limit = int(1, 'limit', 1, 1000000)
local period = int(2, 'period_ms', 1, 86400000)
local burst = int(3, 'burst', 1, 1000000)
local cost = int(4, 'cost', 0, 1000000)
local now = now_us(5)
local step = math.ceil(period * 1000 / limit)
if period * 1000 < limit then
  bad = bad or {err = 'SCRIPTARG rl.gcra limit is above one call a microsecond'}
elseif burst * step > 31536000000000 then
  bad = bad or {err = 'SCRIPTARG rl.gcra burst takes over a year to come back'}
end
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
local tat = whole(raw or '0')
if not tat then return {-9, 0, 0, 0} end
tat = math.max(tat, now)
local new = tat + cost * step
local over = new - now - burst * step
if over <= 0 then
  if cost > 0 then
    redis.call('SET', KEYS[1], digits(new), 'PX', math.ceil((new - now) / 1000) + 1000)
  end
  return {1, math.floor(-over / step), 0, math.ceil((new - now) / 1000)}
end
local remaining = math.max(0, math.floor((now + burst * step - tat) / step))
local reset = math.ceil((tat - now) / 1000)
return {0, remaining, cost > burst and -1 or math.ceil(over / 1000), reset}
