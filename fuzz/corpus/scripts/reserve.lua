local quantity = tonumber(ARGV[1])
if not quantity or quantity ~= math.floor(quantity) or quantity < 1 then
  return {2, 'invalid-arguments'}
end
local stock = tonumber(redis.call('GET', KEYS[1]) or '0')
if not stock then
  return {2, 'invalid-stock'}
end
if stock < quantity then
  return {0, stock}
end
local rest = redis.call('DECRBY', KEYS[1], quantity)
redis.call('INCRBY', KEYS[2], quantity)
return {1, rest}
