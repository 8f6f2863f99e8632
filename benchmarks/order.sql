-- fill
-- `batches` batches of `each` runs, as submit stores them.
with made as (
  insert into batches (id, name, subject_id, run_count, open_runs, request_hash)
  select uuidv7(), 'queued', 'physics', %(each)s, %(each)s, '' from generate_series(1, %(batches)s)
  returning id)
insert into runs (id, batch_id, role, subject_id, topic, model, max_turns, seq)
select uuidv7(), made.id, 'research', 'physics', 'How do tides shape the coast?', %(model)s, 200, 1
  from made, generate_series(1, %(each)s);

-- subject
insert into subjects (id, title) values ('physics', 'Physics') on conflict do nothing;

-- empty
truncate batches cascade;

-- settle
vacuum analyze runs;

-- some
select id from runs where state = 'queued' order by id limit %(count)s;

-- ring
update runs set dispatched_at = now() where id = any(%(ids)s);

-- bare_claim
update runs set state = 'running', lease = lease + 1, worker = 'bench', leased_until = now() + interval '12 s' where id = %(id)s;

-- play
update runs set state = 'running', lease = 1, worker = 'bench', leased_until = now() + interval '1 hour'
 where id in (select id from runs where state = 'queued' limit %(count)s);

-- take_back
update runs set dispatched_at = null where state = 'queued' and dispatched_at is not null;

-- started
select extract(epoch from max(at))::float as at, count(*) as runs from events
 where batch_id = %(batch_id)s and kind = 'run.started';

-- queued
select extract(epoch from clock_timestamp())::float as at;
