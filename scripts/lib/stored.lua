local function whole(s)
  if s and #s < 17 and (s == '0' or string.find(s, '^[1-9]%d*$')) then
    local n = tonumber(s)
    if n < 9007199254740992 then return n end
  end
end
