-- Notes how another attempt of a request ended.
-- KEYS: attempt. ARGV: 1 what follows each state, two digits, 2 ms to keep it
local at = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.call('SET', KEYS[1], tonumber(string.sub(ARGV[1], 2 * at + 1, 2 * at + 2)), 'PX', ARGV[2])
return 1
