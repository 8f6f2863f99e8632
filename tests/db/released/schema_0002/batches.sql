-- insert
-- Whoever sends the same key at the same time waits here for the first, and then gets no row.
insert into batches (id, name, subject_id, priority, budget_usd, run_count, open_runs, idempotency_key, request_hash)
values (%(id)s, %(name)s, %(subject_id)s, %(priority)s, %(budget_usd)s, %(run_count)s, %(run_count)s,
        %(idempotency_key)s, %(request_hash)s)
on conflict (idempotency_key) do nothing
returning id, created_at;

-- of_key
select id, request_hash from batches where idempotency_key = %(idempotency_key)s;

-- copy_runs
copy runs (id, batch_id, role, subject_id, topic, model, priority, max_turns, seq, rung_at) from stdin;

-- queued_events
-- Made on the server from the rows just copied: nothing crosses the wire twice.
insert into events (run_id, seq, batch_id, kind, data)
select id, 1, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic)
  from runs where batch_id = %(batch_id)s;

-- run_ids
select id from runs where batch_id = %(batch_id)s order by id;
