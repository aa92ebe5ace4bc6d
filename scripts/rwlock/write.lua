--- @script rwlock.write
--- @version 1.0.0
--- @owner totality
--- @summary Takes an exclusive lock: one writer, no reader
--- @key writer hash rw ttl template="rw:{resource}:w"
--- @key readers zset r ttl template="rw:{resource}:r"
--- @key fence string rw persistent template="rw:{resource}:fence"
--- @key want string rw ttl template="rw:{resource}:want"
--- @arg holder text 1..200
--- @arg lease_ms int 1000..86400000
--- @arg request text 1..200 reqid
--- @arg want_ms int 0..60000
--- @arg now_ms int 0..9007199254740991 default=0 test
--- @reply code:int token:int ms:int readers:int kind:int
--- @code 1 ACQUIRED nobody else reads or writes; token is greater than every token before
--- @code 2 REPEATED this request has it already
--- @code 0 HELD kind 1: another writer, 2: readers, 3: another writer waits; for ms more
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock server
--- @slot same
--- @retry reqid
--- @cost O(log n) max_commands=10
--- @server redis>=7.0 valkey>=7.2
--- @note A refused writer may stop new readers for want_ms (0: it does not). It cannot prolong that while it lasts, so readers get their turn.
--- @note A reader that asks to write is refused while it reads: two of them would wait for each other for ever.
--- @include "args"
--- @include "now_ms"
--- @include "stored"
--- @include "digits"
keys(4)
local holder = text(1, 'holder', 1, 200)
local lease = int(2, 'lease_ms', 1000, 86400000)
local request = text(3, 'request', 1, 200)
local patience = int(4, 'want_ms', 0, 60000)
local now = now_ms(5)
if patience > 0 and patience < 1000 then
  bad = bad or {err = 'SCRIPTARG rwlock.write want_ms must be 0 or at least 1000'}
end
if bad then return bad end
local held = redis.call('HMGET', KEYS[1], 'owner', 'token', 'request')
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local live = redis.call('ZCOUNT', KEYS[2], '(' .. digits(now), '+inf')
local token = whole(redis.call('GET', KEYS[3]) or '0')
local want = redis.call('GET', KEYS[4])
if not token then return {-9, 0, 0, 0, 0} end
if held[1] == holder and held[3] == request then
  redis.call('PEXPIRE', KEYS[1], lease)
  return {2, token, lease, live, 1}
end
if held[1] or live > 0 or (want and want ~= holder) then
  local kind, ms = 3, 0
  if held[1] then
    kind, ms = 1, math.max(0, redis.call('PTTL', KEYS[1]))
  elseif live > 0 then
    kind, ms = 2, tonumber(last[2]) - now
  else
    ms = math.max(0, redis.call('PTTL', KEYS[4]))
  end
  if patience > 0 and not want then
    redis.call('SET', KEYS[4], holder, 'PX', patience)
  end
  return {0, token, ms, live, kind}
end
token = redis.call('INCR', KEYS[3])
redis.call('HSET', KEYS[1], 'owner', holder, 'token', token, 'request', request, 'since', digits(now))
redis.call('PEXPIRE', KEYS[1], lease)
if want then redis.call('DEL', KEYS[4]) end
return {1, token, lease, 0, 1}
