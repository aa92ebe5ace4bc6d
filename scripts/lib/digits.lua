local function digits(n)
  return string.format('%.0f', n)
end
