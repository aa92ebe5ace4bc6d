-- KEYS[1]: 活动库存key, KEYS[2]: 总库存key
-- ARGV[1]: 扣减数量
local promoStock = tonumber(redis.call('GET', KEYS[1]))
local totalStock = tonumber(redis.call('GET', KEYS[2]))
if promoStock == nil or totalStock == nil then
  return -1 -- key不存在
end
local deduct = tonumber(ARGV[1])
if promoStock >= deduct and totalStock >= deduct then
  redis.call('DECRBY', KEYS[1], deduct)
  redis.call('DECRBY', KEYS[2], deduct)
  return 1 -- 成功
else
  return 0 -- 库存不足
end
