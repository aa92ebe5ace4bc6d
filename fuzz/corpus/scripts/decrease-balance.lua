redis.call('DECRBY', KEYS[1], ARGV[1])
