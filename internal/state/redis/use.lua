-- Notes that a guessed session is used. A value is "<began>:<last>", in
-- microseconds, 0 for the first session.
-- KEYS: guess. ARGV: 1 now, 2 pause that ends a session, 3 ms to keep it
-- answers when the session began, as text.
local now, began, last = tonumber(ARGV[1]), '0', 0
local v = redis.call('GET', KEYS[1])
if v then
  local at = string.find(v, ':', 1, true)
  began, last = string.sub(v, 1, at - 1), tonumber(string.sub(v, at + 1))
  if now - last > tonumber(ARGV[2]) then began = ARGV[1] end
end
redis.call('SET', KEYS[1], began .. ':' .. string.format('%.0f', math.max(now, last)), 'PX', ARGV[3])
return began
