-- insert
-- Whoever sends the same key at the same time waits here for the first, and then gets no row.
insert into batches (id, name, subject_id, priority, budget_usd, budget_tokens, run_count, open_runs, idempotency_key,
                     request_hash, concurrency, ready_at, subscription_id, due_at, owner, key_id, columns, kind,
                     precedents)
values (%(id)s, %(name)s, %(subject_id)s, %(priority)s, %(budget_usd)s, %(budget_tokens)s, %(run_count)s, %(run_count)s,
        %(idempotency_key)s, %(request_hash)s, %(concurrency)s, coalesce(%(ready_at)s::timestamptz, now()),
        %(subscription_id)s, %(due_at)s, %(owner)s, %(key_id)s, %(columns)s, %(kind)s, %(precedents)s)
    on conflict (idempotency_key) do nothing
returning id, created_at;

-- by_idempotency_key
select id, request_hash, owner, precedents
  from batches
 where idempotency_key = %(idempotency_key)s;

-- copy_runs
copy runs (id, batch_id, role, subject_id, topic, model, priority, max_turns, budget_usd, budget_tokens, seq, ready_at,
           subscription_id, since, found_before, price, thinking, effort, scope, number, context) from stdin;

-- queued_events
-- Made on the server from the rows just copied: nothing crosses the wire twice.
insert into events (run_id, seq, batch_id, kind, data)
select id, 1, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic)
  from runs
 where batch_id = %(batch_id)s;

-- run_ids
select id
  from runs
 where batch_id = %(batch_id)s
 order by id;
