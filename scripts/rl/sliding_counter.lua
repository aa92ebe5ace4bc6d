--- @script rl.sliding_counter
--- @version 1.0.0
--- @owner totality
--- @summary Sliding window, approximate: two counters, the older one weighed by its share
--- @key state hash rw ttl template="rl:{subject}:sliding_counter"
--- @arg limit int 1..1000000
--- @arg window_ms int 1000..2678400000
--- @arg cost int 0..1000000 default=1
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int remaining:int retry_ms:int reset_ms:int
--- @code 1 ALLOWED
--- @code 0 REJECTED http=429 retry_after=retry_ms
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(1) max_commands=4
--- @server redis>=7.0 valkey>=7.2
--- @note Takes the calls of the last window as evenly spread. A burst at its end may let up to one limit more through in the window after it; a sliding window of two lengths never sees more than twice the limit.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(1)
local limit = int(1, 'limit', 1, 1000000)
local window = int(2, 'window_ms', 1000, 2678400000)
local cost = int(3, 'cost', 0, 1000000)
local now = now_ms(4)
if bad then return bad end
local index = math.floor(now / window)
local state = redis.call('HMGET', KEYS[1], 'window', 'current', 'previous')
local current, previous = 0, 0
if state[1] then
  local w, c, p = whole(state[1]), whole(state[2]), whole(state[3])
  if not w or not c or not p or c > 1000000000 or p > 1000000000 then return {-9, 0, 0, 0} end
  if w >= index then
    if w > index then
      -- The clock was set back: stay where the state is.
      index, now = w, w * window
    end
    current, previous = c, p
  elseif w == index - 1 then
    previous = c
  end
end
local elapsed = now - index * window
local weighed = math.ceil(previous * (window - elapsed) / window)
local used = weighed + current
local reset = used > 0 and (current > 0 and 2 * window - elapsed or window - elapsed) or 0
if used + cost <= limit then
  if cost > 0 then
    redis.call('HSET', KEYS[1], 'window', digits(index), 'current', digits(current + cost), 'previous', digits(previous))
    redis.call('PEXPIRE', KEYS[1], 2 * window + 1000)
    reset = 2 * window - elapsed
  end
  return {1, limit - used - cost, 0, reset}
end
local remaining = math.max(0, limit - used)
if cost > limit then return {0, remaining, -1, reset} end
local retry
if current + cost <= limit then
  -- Enough of the previous window has to slide out.
  retry = math.ceil(window * (1 - (limit - current - cost) / previous)) - elapsed
else
  retry = window - elapsed + math.max(0, math.ceil(window * (1 - (limit - cost) / current)))
end
return {0, remaining, math.max(1, retry), reset}
