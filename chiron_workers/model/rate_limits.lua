-- Takes what a call needs from a model's token buckets; returns the seconds until the call may go, as text.
-- KEYS[1]: a hash with the level of each bucket and the time of the levels.
-- ARGV: the longest wait, then for each bucket its name, what flows in a second, its capacity, the amount wanted
-- and what to add since earlier calls took too much (or, negative, too little).
-- A call that has to wait takes its place at once: the level falls below zero, and whoever comes later waits longer.
-- That is order of arrival, for all workers, in one round trip. A wait longer than the longest takes nothing.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local past = math.max(0, now - (tonumber(redis.call('HGET', KEYS[1], 'at')) or now))
local longest, wait, full_in, levels = tonumber(ARGV[1]), 0, 0, {}
for i = 2, #ARGV, 5 do
  local flow, capacity, amount = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local level = tonumber(redis.call('HGET', KEYS[1], ARGV[i])) or capacity
  level = math.min(capacity, level + past * flow + tonumber(ARGV[i + 4]))
  -- What is larger than the bucket waits until it is full and then leaves a debt.
  wait = math.max(wait, (math.min(amount, capacity) - level) / flow)
  levels[i] = level
end
for i = 2, #ARGV, 5 do
  local level = levels[i] - (wait <= longest and tonumber(ARGV[i + 3]) or 0)
  full_in = math.max(full_in, (tonumber(ARGV[i + 2]) - level) / tonumber(ARGV[i + 1]))
  redis.call('HSET', KEYS[1], ARGV[i], string.format('%.6f', level))
end
redis.call('HSET', KEYS[1], 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], math.ceil(full_in) + 60)
return string.format('%.6f', wait)
