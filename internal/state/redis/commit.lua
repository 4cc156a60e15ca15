-- Writes the values of a lease, all or none.
-- KEYS: lock, values
-- ARGV: 1 token, 2 ms to keep them, then for each value the version that it
--       had, empty for none, and the new value
-- answers 1, or 0 where somebody else changed one of them since.
for i = 2, #KEYS do
  if redis.call('GETRANGE', KEYS[i], 0, 7) ~= ARGV[2 * i - 1] then return 0 end
end
for i = 2, #KEYS do
  redis.call('SET', KEYS[i], ARGV[2 * i], 'PX', ARGV[2])
end
if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
