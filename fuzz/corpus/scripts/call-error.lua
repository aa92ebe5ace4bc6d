-- 示例：假设 key1 是字符串，key2 是列表
redis.call('SET', 'key1', 'hello') -- 成功
redis.call('LPOP', 'key1') -- 出错，命令不合法
redis.call('SET', 'key2', 'world') -- 这行不会被执行
