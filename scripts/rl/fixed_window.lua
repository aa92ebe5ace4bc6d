--- @script rl.fixed_window
--- @version 1.0.0
--- @owner totality
--- @summary Fixed window: a counter that begins anew when its window ends
--- @key counter string rw ttl template="rl:{subject}:fixed_window"
--- @arg limit int 1..1000000000
--- @arg window_ms int 1000..2678400000
--- @arg cost int 0..1000000 default=1
--- @arg count_refused int 0..1 default=0
--- @reply code:int remaining:int retry_ms:int reset_ms:int repaired:int
--- @code 1 ALLOWED remaining more are
--- @code 0 REJECTED http=429 retry_after=retry_ms retry_ms is -1 when the cost is above the limit
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @native INCREX when="redis>=8.8 valkey>=9.2" note="INCREX key BYINT cost UBOUND limit PX window ENX"
--- @note Around the end of a window twice the limit may pass within one window's length: use rl.sliding_counter where that matters.
--- @note A counter without a time to live (left by another program) gets one; repaired is 1 then. Cost 0 only looks.
--- @include "args"
--- @include "stored"
keys(1)
local limit = int(1, 'limit', 1, 1000000000)
local window = int(2, 'window_ms', 1000, 2678400000)
local cost = int(3, 'cost', 0, 1000000)
local refused = int(4, 'count_refused', 0, 1)
if bad then return bad end
local raw = redis.call('GET', KEYS[1])
local used = whole(raw or '0')
if not used then return {-9, 0, 0, 0, 0} end
local left, repaired = window, 0
if raw then
  left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], window)
    left, repaired = window, 1
  end
end
local fits = used + cost <= limit
if cost > 0 and (fits or (refused == 1 and used < 4503599627370496)) then
  if raw then
    redis.call('INCRBY', KEYS[1], cost)
  else
    redis.call('SET', KEYS[1], cost, 'PX', window)
  end
  used = used + cost
end
local remaining = math.max(0, limit - used)
if fits then return {1, remaining, 0, left, repaired} end
return {0, remaining, cost > limit and -1 or left, left, repaired}
