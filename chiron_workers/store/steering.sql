-- hold
-- All that can be stopped, so that none of them is claimed or handed back in between.
select id from runs
 where (id = %(id)s or batch_id = %(id)s) and state in ('queued', 'running', 'paused') order by id for update;

-- stop_waiting
-- Runs that nobody holds stop at once. The order of the ids is the order of the locks.
with found as (
  select id from runs
   where (id = %(id)s or batch_id = %(id)s) and state = any(%(from_states)s) order by id for update),
stopped as (
  update runs
     set state = %(state)s, seq = seq + 1, wanted = null, rung_at = null, leased_until = null,
         finished_at = case when %(closes)s then now() end
    from found where runs.id = found.id
  returning runs.id, batch_id, seq, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, %(kind)s, %(data)s::json, at from stopped)
select id, batch_id, seq, at from stopped order by id;

-- want
-- A run that is being played is stopped by its holder, who learns of it when it renews, or at once over Redis.
update runs set wanted = %(wanted)s
 where (id = %(id)s or batch_id = %(id)s) and state = 'running' and wanted is distinct from %(wanted)s
returning id, batch_id;

-- go_on
-- Back into the queue: what was paused, or what ended and is to be tried again.
with found as (
  select id, state as was from runs
   where (id = %(id)s or batch_id = %(id)s)
     and (state = any(%(from_states)s) or (%(unwants)s and state = 'running' and wanted = 'pause'))
   order by id for update),
back as (
  update runs
     set state = case when was = 'running' then 'running' else 'queued' end, wanted = null,
         attempt = case when was = 'running' then attempt else 1 end,
         max_turns = case when %(reopens)s then greatest(max_turns, turns + %(more_turns)s) else max_turns end,
         ready_at = case when was = 'running' then ready_at else now() end, rung_at = null,
         seq = seq + case when was = 'running' then 0 else 1 end, finished_at = null,
         error = case when was = 'running' then error end
    from found where runs.id = found.id
  returning runs.id, batch_id, seq, role, topic, subject_id, was, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic, 'reason', %(reason)s::text), at
    from back where was <> 'running')
select back.id, batch_id, seq, role, topic, s.title as subject, was, at
  from back join subjects s on s.id = back.subject_id order by back.id;

-- count_open
-- The batch row comes last, after its runs.
update batches
   set open_runs = open_runs + %(change)s, finished_at = case when open_runs + %(change)s = 0 then now() end
 where id = %(batch_id)s
returning open_runs;

-- raise_budget
update batches set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd) where id = %(batch_id)s returning spent_usd, budget_usd;

-- batch_of
select id as batch_id from batches where id = %(id)s
union all
select batch_id from runs where id = %(id)s;

-- states
select state, count(*) as runs from runs where id = %(id)s or batch_id = %(id)s group by state order by state;
