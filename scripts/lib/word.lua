local function word(i, name, ...)
  for j = 1, select('#', ...) do
    local w = select(j, ...)
    if ARGV[i] == w then return w end
  end
  bad = bad or {err = 'SCRIPTARG SCRIPT_NAME ' .. name .. ' must be one of ' .. table.concat({...}, ', ')}
  return ''
end
