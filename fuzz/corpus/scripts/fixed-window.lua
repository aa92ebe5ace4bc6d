-- KEYS[1] = rate limit key
-- ARGV[1] = window seconds
-- ARGV[2] = max requests

local current = redis.call('INCR', KEYS[1])

if current == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end

if current > tonumber(ARGV[2]) then
  return {0, current, redis.call('TTL', KEYS[1])}
else
  return {1, current, redis.call('TTL', KEYS[1])}
end
