-- playing
select id, split_part(topic, ' ', 1) as run from runs where batch_id = %(batch_id)s and state = 'running' order by id;

-- cancelled
select at from events where run_id = %(run_id)s and kind = 'run.cancelled';
