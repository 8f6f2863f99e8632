-- KEYS[1]: a sorted set of models by the second, on this server's clock, until which they cool down.
-- ARGV: the channel, the model, its seconds, what to publish. With 0 seconds the cool-down ends.
-- It is published first, so that it arrives also where the key is somebody else's and cannot be written.
redis.call('PUBLISH', ARGV[1], ARGV[4])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local seconds = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if seconds > 0 then
  redis.call('ZADD', KEYS[1], 'GT', string.format('%.6f', now + seconds), ARGV[2])
else
  redis.call('ZREM', KEYS[1], ARGV[2])
end
