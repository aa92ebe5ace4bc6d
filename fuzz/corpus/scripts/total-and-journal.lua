-- KEYS[1]: 用户总金额key 'user:1001:total_spent'
-- KEYS[2]: 流水列表key 'user:1001:spent_logs'
-- ARGV[1]: 本次消费金额
-- ARGV[2]: 消费时间戳
-- ARGV[3]: 订单号，作为流水标识
local amount = tonumber(ARGV[1])
if amount <= 0 then
  return {err = "invalid amount"}
end
-- 原子性地增加总金额
redis.call('INCRBYFLOAT', KEYS[1], amount)
-- 原子性地将流水记录添加到列表头部
redis.call('LPUSH', KEYS[2], string.format('%s|%s|%s', ARGV[2], ARGV[3], amount))
-- 修剪列表，只保留最新的100条流水，防止内存无限增长
redis.call('LTRIM', KEYS[2], 0, 99)
return redis.call('GET', KEYS[1]) -- 返回更新后的总金额
