-- KEYS[1] = zset key
-- ARGV[1] = now millis
-- ARGV[2] = window millis
-- ARGV[3] = max requests
-- ARGV[4] = unique request member
-- ARGV[5] = key ttl seconds

local now = tonumber(ARGV[1])
local window_start = now - tonumber(ARGV[2])

redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, window_start)

local count = redis.call('ZCARD', KEYS[1])

if count >= tonumber(ARGV[3]) then
  return {0, count, redis.call('PTTL', KEYS[1])}
end

redis.call('ZADD', KEYS[1], now, ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])

return {1, count + 1, redis.call('PTTL', KEYS[1])}
