local bad
local function int(i, name, lo, hi)
  local s = ARGV[i]
  local n = s and #s < 17 and (s == '0' or string.find(s, '^[1-9]%d*$')) and tonumber(s)
  if n and n >= lo and n <= hi then return n end
  bad = bad or {err = string.format('SCRIPTARG SCRIPT_NAME %s must be an integer from %.0f to %.0f', name, lo, hi)}
  return lo
end
local function text(i, name, lo, hi)
  local s = ARGV[i]
  if s and #s >= lo and #s <= hi then return s end
  bad = bad or {err = string.format('SCRIPTARG SCRIPT_NAME %s must have %d to %d bytes', name, lo, hi)}
  return ''
end
local function keys(lo, hi)
  local n = #KEYS
  if n < lo or n > (hi or lo) then
    bad = {err = 'SCRIPTARG SCRIPT_NAME keys: there must be ' .. lo .. (hi and ' to ' .. hi or '')}
    return
  end
  for i = 1, n do
    if KEYS[i] == '' then bad = {err = 'SCRIPTARG SCRIPT_NAME keys: an empty name'} end
    for j = 1, i - 1 do
      if KEYS[i] == KEYS[j] then bad = {err = 'SCRIPTARG SCRIPT_NAME keys: the same name twice'} end
    end
  end
end
