-- KEYS[1]: 限流key
-- ARGV[1]: 当前时间戳（由客户端传入，保证集群内一致）
-- ARGV[2]: 窗口大小（秒），如 60
-- ARGV[3]: 最大请求数，如 100
local now = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local max = tonumber(ARGV[3])
-- 1. 移除窗口之外的数据
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window * 1000) -- 时间戳单位通常是毫秒
-- 2. 获取当前窗口内的请求数
local current = redis.call('ZCARD', KEYS[1])
-- 3. 判断是否超限
if current >= max then
  return 0 -- 超过限制
end
-- 4. 未超限，添加本次请求记录
redis.call('ZADD', KEYS[1], now, now) -- 用时间戳作为member和score
-- 可选：设置ZSET的过期时间，避免无用数据长期累积
redis.call('EXPIRE', KEYS[1], window + 10) -- 比窗口多10秒，保证清理
return 1 -- 允许通过
