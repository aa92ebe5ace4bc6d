--- @script dlq.drop
--- @version 1.0.0
--- @owner totality
--- @summary Deletes dead jobs that are older than asked for
--- @key dlq zset rw persistent template="queue:{queue}:dlq"
--- @key jobs hash rw persistent template="queue:{queue}:jobs"
--- @key meta hash rw persistent template="queue:{queue}:meta"
--- @key unique hash rw persistent template="queue:{queue}:unique"
--- @arg batch int 1..100
--- @arg older_than_ms int 0..31536000000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int dropped:int more:int
--- @code 1 DONE more is 1 when there is work left
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry safe
--- @cost O(batch log n) max_commands=605
--- @server redis>=7.0 valkey>=7.2
--- @include "args"
--- @include "now_ms"
--- @include "digits"
keys(4)
local batch = int(1, 'batch', 1, 100)
local age = int(2, 'older_than_ms', 0, 31536000000)
local now = now_ms(3)
if bad then return bad end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', digits(now - age), 'LIMIT', 0, batch + 1)
redis.call('HLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
redis.call('HLEN', KEYS[4])
for i = 1, math.min(batch, #ids) do
  local id = ids[i]
  local unique = redis.call('HGET', KEYS[3], 'u:' .. id)
  if unique then
    local entry = redis.call('HGET', KEYS[4], unique)
    if entry and string.match(entry, '^%d+:(.*)$') == id then redis.call('HDEL', KEYS[4], unique) end
  end
  redis.call('HDEL', KEYS[2], id)
  redis.call('HDEL', KEYS[3], 's:' .. id, 'a:' .. id, 't:' .. id, 'w:' .. id, 'u:' .. id)
  redis.call('ZREM', KEYS[1], id)
end
return {1, math.min(batch, #ids), #ids > batch and 1 or 0}
