-- What the public Lua 5.1 test suite finds beside our own libraries: stand-ins for files in memory, and no more of
-- `debug` than the line of a caller. KEYS[1] is the file's name, ARGV[1] its text, ARGV[2] the text of checktable.lua.
local file, text, checktable = KEYS[1], ARGV[1], ARGV[2]

local written
local function append(...)
  for i = 1, select('#', ...) do written[#written + 1] = tostring((select(i, ...))) end
end
io = {
  output = function() written = {} end,
  write = append,
  close = function() end,
  tmpfile = function()
    written = {}
    return {
      write = function(_, ...) append(...) end,
      seek = function() end,
      read = function() return table.concat(written) end,
      close = function() return true end,
    }
  end,
}
os.tmpname = function() return 'file' end
os.remove = function() return true end
os.setlocale = function(name) if name == nil or name == 'C' then return 'C' end end
dofile = function() return assert(loadstring(table.concat(written), '@file'))() end
require = function() return assert(loadstring(checktable, '@checktable.lua'))() end
debug = {
  getinfo = function(level)
    local _, where = pcall(error, '', level + 2)
    return { currentline = tonumber(string.match(where, ':(%d+):')) }
  end,
}

local run = assert(loadstring(text, '@' .. file))
if file == 'big.lua' then
  run = coroutine.wrap(run)
  assert(run() == 'b' and run() == 'a')
elseif file == 'calls.lua' then
  assert(run() == deep and deep)
else
  -- What the suite's own driver expects of some files.
  local expected = { ['attrib.lua'] = 27, ['locals.lua'] = 5, ['events.lua'] = 12, ['verybig.lua'] = 10 }
  local result = run()
  assert(expected[file] == nil or result == expected[file], 'unexpected result')
end
