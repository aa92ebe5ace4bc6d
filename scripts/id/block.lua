--- @script id.block
--- @version 1.0.0
--- @owner totality
--- @summary Gives out a block of numbers that nobody else gets
--- @key counter string rw persistent template="id:{name}"
--- @arg size int 1..1000000
--- @reply code:int first:int last:int
--- @code 1 GIVEN
--- @code -8 FULL the numbers up to 2^53 - 1 are used up
--- @code -9 BAD_STATE what is stored is not what this script writes; nothing was changed
--- @error SCRIPTARG
--- @clock none
--- @slot same
--- @retry safe
--- @cost O(1) max_commands=2
--- @server redis>=7.0 valkey>=7.2
--- @note A retry takes another block: numbers are unique, not without gaps. A failover that loses writes may give numbers out again; begin anew above the largest one stored.
--- @include "args"
--- @include "stored"
keys(1)
local size = int(1, 'size', 1, 1000000)
if bad then return bad end
local used = whole(redis.call('GET', KEYS[1]) or '0')
if not used then return {-9, 0, 0} end
if size > 9007199254740991 - used then return {-8, 0, 0} end
local last = redis.call('INCRBY', KEYS[1], size)
return {1, last - size + 1, last}
