local function pack(s)
  s = type(s) == 'number' and string.format('%.0f', s) or s
  return #s .. ':' .. s .. ','
end
