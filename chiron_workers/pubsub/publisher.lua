-- Publishes events on the channels of their batches and runs; returns how many each publication has reached.
-- ARGV: for each event the channel of its batch, that of its run, the message.
local receivers = {}
for i = 1, #ARGV, 3 do
  receivers[#receivers + 1] = redis.call('PUBLISH', ARGV[i], ARGV[i + 2])
  receivers[#receivers + 1] = redis.call('PUBLISH', ARGV[i + 1], ARGV[i + 2])
end
return receivers
