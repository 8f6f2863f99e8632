-- subject
insert into subjects (id, title) values ('physics', 'Physics') on conflict do nothing;

-- batch
insert into batches (id, name, subject_id, run_count, open_runs, request_hash)
values (%(id)s, 'floor', 'physics', %(run_count)s, %(run_count)s, '');

-- copy_runs
copy runs (id, batch_id, role, subject_id, topic, model, priority, max_turns, seq, ready_at) from stdin;

-- copy_events
copy events (run_id, seq, batch_id, kind, data) from stdin;
