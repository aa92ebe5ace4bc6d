-- KEYS[1]: 库存key，例如 'stock:item_001'
-- ARGV[1]: 需要扣减的数量
local stock = tonumber(redis.call('GET', KEYS[1]))
if stock == nil then
  return -1 -- 库存key不存在
end
if stock < tonumber(ARGV[1]) then
  return 0 -- 库存不足
end
-- 库存充足，执行扣减
redis.call('DECRBY', KEYS[1], ARGV[1])
return 1 -- 扣减成功
