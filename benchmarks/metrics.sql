-- runs
-- As a worker leaves them: a state set by an update, most of them completed, some that wait.
insert into runs (id, batch_id, role, subject_id, topic, model, state, max_turns, ready_at)
select gen_random_uuid(), %(batch_id)s, 'research', 'benchmark', 'How does case ' || n || ' behave?', 'claude-opus-5-5',
       'queued', 50, now() - n * interval '1 millisecond'
  from generate_series(1, %(runs)s) as n;

-- end
update runs
   set state = case when random() < 0.98 then 'completed' else 'failed' end, started_at = now(), finished_at = now()
 where batch_id = %(batch_id)s
   and random() < 0.99;

-- begin
update runs
   set state = 'running', started_at = now(), lease = 1, leased_until = now() + interval '1 hour', worker = 'benchmark'
 where id in (select id from runs where state = 'queued' limit 100);

-- vacuum
vacuum (analyze) runs;
