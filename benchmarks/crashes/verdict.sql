-- states
select state, count(*) as n from runs where batch_id = %(batch_id)s group by 1;

-- unfinished
select topic, state, turns, attempt, worker, leased_until, error from runs
 where batch_id = %(batch_id)s and (state <> 'completed' or leased_until is not null or stop_requested is not null);

-- blames
select count(*) as n, count(*) filter (where runs.state = 'paused') as paused
  from events
  join runs on runs.id = events.run_id
 where runs.batch_id = %(batch_id)s
   and events.kind = 'run.paused';

-- turns
select split_part(topic, ' ', 1) as run, turns from runs where batch_id = %(batch_id)s;

-- marks
select question_hash as mark, count(*) as n from assessments group by 1
union all
select split_part(title, ' ', 1), count(*) from nodes where title like '%%call%%' group by 1;

-- results
select count(*) as n, count(*) filter (where is_error) as errors from tool_results;

-- batch_completed
select count(*) as n from events where kind = 'batch.completed' and batch_id = %(batch_id)s;

-- batch
select open_runs, finished_at from batches where id = %(batch_id)s;

-- spent
select spent_usd from batch_costs where batch_id = %(batch_id)s;

-- connections
select pid, application_name, state, query from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid();

-- unconfirmed
select split_part(topic, ' ', 1) as run, unconfirmed_calls + (select count(*) from write_offs where run_id = runs.id and settled_at is not null) as calls, lease as takings from runs where batch_id = %(batch_id)s;

-- attempts
select attempt, count(*) as n from runs where batch_id = %(batch_id)s group by 1;

-- handed_back
select count(*) as n from events where kind = 'run.handed_back';

-- taken
-- When a run was given back to the queue and when it was taken again.
select r.topic, e.kind, extract(epoch from e.at)::float as at
  from events e join runs r on r.id = e.run_id
 where e.kind in ('run.handed_back', 'run.resumed') and extract(epoch from e.at) > %(since)s order by e.at;

-- takings
select e.kind || ' ' || round(extract(epoch from e.at)::numeric, 2) || ' ' || e.data as what
  from events e join runs r on r.id = e.run_id
 where r.topic like %(run)s || ' %%' and e.kind like 'run.%%' order by e.seq;
