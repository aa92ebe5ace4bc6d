local result = redis.pcall('LPOP', 'key1') -- 即使出错，脚本也继续
if type(result) == 'table' and result.err then
  -- 处理错误
end
redis.call('SET', 'key2', 'world') -- 这行会被执行
