-- Ends a lease that wrote nothing. KEYS: lock. ARGV: token
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
