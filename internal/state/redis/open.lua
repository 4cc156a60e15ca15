-- All that one call asks, in one step. Times are microseconds, below 2^53.
-- KEYS: [lock, window, session, agent's window], [attempt], draws, shadows, hits
-- ARGV: 1 values, 2 token, 3 lock ms, 4 attempts, 5 draws, 6 shadows,
--       7 hits, 8.. a version for each value, five terms for each
--       draw and shadow, a window in ms for each hit
-- answers: attempt, refused draw, its wait, waits of shadows, counts, locked, values
local values, draws, shadows, hits = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local key, arg = 0, 7 + values
if values > 0 then key = values + 1 end

local attempt = 0
if ARGV[4] == '1' then
  key = key + 1
  attempt = tonumber(redis.call('GET', KEYS[key]) or '0')
end

local latest = 9007199254740991
local now = 0
if draws + shadows > 0 then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- A bucket is "<when it is full>:<part of a microsecond>".
local function bucket(k)
  local v = redis.call('GET', k)
  if not v then return 0, 0 end
  local at = string.find(v, ':', 1, true)
  return tonumber(string.sub(v, 1, at - 1)), tonumber(string.sub(v, at + 1))
end

-- What a draw has to wait for; 0 where it passes.
local function wait(k, a)
  local units = tonumber(ARGV[a])
  if units == 0 then return 0 end
  local full, part = bucket(k)
  if full < now then return 0 end
  local owed, room, roomPart = full - now, tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  part = math.min(part, units - 1)
  if owed < room or (owed == room and part <= roomPart) then return 0 end
  local w = owed - room
  if part > roomPart then w = w + 1 end
  return math.max(w, 1)
end

local function take(k, a)
  local units = tonumber(ARGV[a])
  if units == 0 then return end
  local full, part = bucket(k)
  if full < now then full, part = now, 0 end
  local us = tonumber(ARGV[a + 1])
  part = math.min(part, units - 1) + tonumber(ARGV[a + 2])
  if part >= units then part, us = part - units, us + 1 end
  full = math.min(full + us, latest)
  redis.call('SET', k, string.format('%.0f:%.0f', full, part), 'PX', string.format('%.0f', math.ceil((full - now) / 1000) + 1000))
end

local refused, refusedWait = -1, 0
for i = 1, draws do
  local w = wait(KEYS[key + i], arg + 5 * i - 4)
  if w > 0 then refused, refusedWait = i - 1, w break end
end
if refused < 0 then
  for i = 1, draws do take(KEYS[key + i], arg + 5 * i - 4) end
end
key, arg = key + draws, arg + 5 * draws

local shadowWaits = {}
for i = 1, shadows do
  local k, a = KEYS[key + i], arg + 5 * i - 4
  shadowWaits[i] = wait(k, a)
  if shadowWaits[i] == 0 then take(k, a) end
end
key, arg = key + shadows, arg + 5 * shadows

local counts = {}
for i = 1, hits do
  counts[i] = redis.call('INCR', KEYS[key + i])
  redis.call('PEXPIRE', KEYS[key + i], ARGV[arg + i])
end

local answer = {attempt, refused, refusedWait, shadowWaits, counts, 0}
if values == 0 then return answer end
if ARGV[2] ~= '' then
  local owner = redis.call('GET', KEYS[1])
  if owner and owner ~= ARGV[2] then return answer end
  if not owner then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
end
answer[6] = 1
-- A value is its version, eight bytes, and what was encoded. Who knows the
-- version has the value.
for i = 1, values do
  local known = ARGV[7 + i]
  if known ~= '' and redis.call('GETRANGE', KEYS[1 + i], 0, 7) == known then
    answer[6 + i] = known
  else
    answer[6 + i] = redis.call('GET', KEYS[1 + i])
  end
end
return answer
