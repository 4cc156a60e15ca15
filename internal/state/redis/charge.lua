-- Takes from buckets, into debt if need be, or returns to them.
-- KEYS: buckets. ARGV: for each: units, cost in microseconds, its part, 1 to return
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local latest = 9007199254740991
for i = 1, #KEYS do
  local a = 4 * i - 3
  local units, us, costPart = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local full, part = 0, 0
  local v = redis.call('GET', KEYS[i])
  if v then
    local at = string.find(v, ':', 1, true)
    full, part = tonumber(string.sub(v, 1, at - 1)), tonumber(string.sub(v, at + 1))
  end
  if units > 0 then
    part = math.min(part, units - 1)
    if ARGV[a + 3] == '1' then
      if part < costPart then part, us = part + units, us + 1 end
      full, part = full - us, part - costPart
    else
      if full < now then full, part = now, 0 end
      part = part + costPart
      if part >= units then part, us = part - units, us + 1 end
      full = math.min(full + us, latest)
    end
    if full < now then
      redis.call('DEL', KEYS[i])
    else
      redis.call('SET', KEYS[i], string.format('%.0f:%.0f', full, part), 'PX', string.format('%.0f', math.ceil((full - now) / 1000) + 1000))
    end
  end
end
return 1
