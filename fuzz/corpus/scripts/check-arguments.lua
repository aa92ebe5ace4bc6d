if #KEYS ~= 1 then
  return {err = "wrong number of keys"}
end
local value = tonumber(ARGV[1])
if value == nil then
  return {err = "argument is not a number"}
end
