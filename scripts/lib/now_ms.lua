local function now_ms(i)
  local given = int(i, 'now_ms', 0, 9007199254740991)
  if given > 0 or bad then return given end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
