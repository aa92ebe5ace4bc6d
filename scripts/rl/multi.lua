--- @script rl.multi
--- @version 1.0.0
--- @owner totality
--- @summary Several fixed windows at once: a call counts in all of them or in none
--- @key counters... string rw ttl template="rl:{subject}:m:<window>"
--- @arg cost int 1..1000000 default=1
--- @arg limit... int 1..1000000000
--- @arg window_ms... int 1000..2678400000
--- @reply code:int remaining:int retry_ms:int reset_ms:int index:int
--- @code 1 ALLOWED remaining is the smallest one
--- @code 0 REJECTED http=429 retry_after=retry_ms index says by which window
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock key-ttl
--- @slot same
--- @retry unsafe
--- @cost O(n) max_commands=30 max_keys=10
--- @server redis>=7.0 valkey>=7.2
--- @note The limits and windows follow as pairs, in the order of the keys.
--- @include "args"
--- @include "stored"
keys(1, 10)
local cost = int(1, 'cost', 1, 1000000)
local limits, windows = {}, {}
for i = 1, math.min(#KEYS, 10) do
  limits[i] = int(2 * i, 'limit', 1, 1000000000)
  windows[i] = int(2 * i + 1, 'window_ms', 1000, 2678400000)
end
if bad then return bad end
local refused, remaining, retry, reset, counts = 0, 1000000000, 0, 0, {}
local missing = {}
for i = 1, #KEYS do
  local raw = redis.call('GET', KEYS[i])
  local used = whole(raw or '0')
  if not used then return {-9, 0, 0, 0, i} end
  local left = windows[i]
  if raw then
    left = redis.call('PTTL', KEYS[i])
    if left < 0 then
      missing[#missing + 1] = i
      left = windows[i]
    end
  end
  counts[i] = raw and used or -1
  local wait = used + cost > limits[i] and (cost > limits[i] and -1 or left) or 0
  if wait ~= 0 and retry ~= -1 and (wait == -1 or wait > retry) then
    refused, retry = i, wait
  end
  remaining = math.min(remaining, math.max(0, limits[i] - used))
  reset = math.max(reset, left)
end
for i = 1, #missing do
  redis.call('PEXPIRE', KEYS[missing[i]], windows[missing[i]])
end
if refused > 0 then return {0, remaining, retry, reset, refused} end
for i = 1, #KEYS do
  if counts[i] < 0 then
    -- The same key twice counts twice.
    redis.call('INCRBY', KEYS[i], cost)
    redis.call('PEXPIRE', KEYS[i], windows[i])
  else
    redis.call('INCRBY', KEYS[i], cost)
  end
end
return {1, remaining - cost, 0, reset, 0}
