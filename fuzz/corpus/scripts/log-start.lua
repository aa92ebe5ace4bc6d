redis.log(redis.LOG_NOTICE, "Script started, key: " .. KEYS[1])
