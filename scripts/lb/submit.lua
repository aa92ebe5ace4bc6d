--- @script lb.submit
--- @version 1.0.0
--- @owner totality
--- @summary Records a score on a leaderboard; of equal scores the earlier one leads
--- @key board zset rw ttl template="lb:{board}:<period>"
--- @arg member text 1..200
--- @arg score int 0..4294967295
--- @arg mode word best|sum|last
--- @arg epoch_s int 0..9007199254
--- @arg ttl_ms int 1000..31536000000
--- @arg max_members int 1..10000000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int score:int rank:int
--- @code 1 RECORDED rank 1 is the best
--- @code 0 UNCHANGED the member had a better score
--- @code -8 FULL the board is full of better scores, or the sum would pass 2^32 - 1
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry unsafe
--- @cost O(log n) max_commands=10
--- @server redis>=7.0 valkey>=7.2
--- @note The low 21 bits of the stored score hold the time: seconds from epoch_s (the period's begin), exact for 24 days, later ones count as equal. Modes best and last may be retried.
--- @include "args"
--- @include "word"
--- @include "now_ms"
--- @include "digits"
keys(1)
local member = text(1, 'member', 1, 200)
local score = int(2, 'score', 0, 4294967295)
local mode = word(3, 'mode', 'best', 'sum', 'last')
local epoch = int(4, 'epoch_s', 0, 9007199254)
local ttl = int(5, 'ttl_ms', 1000, 31536000000)
local max = int(6, 'max_members', 1, 10000000)
local now = now_ms(7)
if bad then return bad end
local stored = redis.call('ZSCORE', KEYS[1], member)
local current = stored and tonumber(stored)
if current and (current < 0 or current > 9007199254740991 or current ~= math.floor(current)) then return {-9, 0, 0} end
local had = current and math.floor(current / 2097152)
if had and mode == 'best' and had >= score then
  return {0, had, redis.call('ZREVRANK', KEYS[1], member) + 1}
end
if had and mode == 'sum' then score = had + score end
if score > 4294967295 then return {-8, had, 0} end
local age = math.min(2097151, math.max(0, math.floor(now / 1000) - epoch))
local new = score * 2097152 + (2097151 - age)
if not current and redis.call('ZCARD', KEYS[1]) >= max then
  local lowest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if tonumber(lowest[2]) >= new then return {-8, 0, 0} end
  redis.call('ZREM', KEYS[1], lowest[1])
end
redis.call('ZADD', KEYS[1], digits(new), member)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
return {1, score, redis.call('ZREVRANK', KEYS[1], member) + 1}
