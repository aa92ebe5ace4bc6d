local function sint(i, name, lo, hi)
  local s = ARGV[i]
  local n = s and #s < 18 and (s == '0' or string.find(s, '^%-?[1-9]%d*$')) and tonumber(s)
  if n and n >= lo and n <= hi then return n end
  bad = bad or {err = string.format('SCRIPTARG SCRIPT_NAME %s must be an integer from %.0f to %.0f', name, lo, hi)}
  return lo
end
