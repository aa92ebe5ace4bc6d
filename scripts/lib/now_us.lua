local function now_us(i)
  local given = int(i, 'now_us', 0, 9007199254740991)
  if given > 0 or bad then return given end
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end
