-- Writes, as every call does: a server that is full, or a replica, refuses.
-- KEYS: any
return redis.call('SET', KEYS[1], '1', 'PX', 1000)
