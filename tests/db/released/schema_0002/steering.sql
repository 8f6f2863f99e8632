-- hold
-- All that can be stopped, so that none of them is claimed or handed back in between. The order of the ids is
-- the order of the locks.
select id from runs
 where (id = %(id)s or batch_id = %(id)s) and state in ('queued', 'running', 'paused') order by id for update;

-- stop_waiting
-- Runs that nobody holds stop at once.
with stopped as (
  update runs
     set state = %(state)s, seq = seq + 1, rung_at = null, finished_at = case when %(closes)s then now() end
   where (id = %(id)s or batch_id = %(id)s) and state = any(%(from_states)s)
  returning id, batch_id, seq, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, %(kind)s, %(data)s::json, at from stopped)
select id, seq, at from stopped order by id;

-- want
-- A run that is being played is stopped by its holder, who learns of it when it renews, or at once over Redis.
-- A pause does not take a cancel back.
update runs set wanted = %(wanted)s
 where (id = %(id)s or batch_id = %(id)s) and state = 'running'
   and (wanted is null or wanted = %(wanted)s or %(wanted)s = 'cancel')
returning id;

-- go_on
-- Back into the queue: what was paused, or what ended and is to be tried again. A run that is still being played
-- stays so if nothing but a pause was wanted of it. Only as many are marked as rung as are rung at once.
with found as (
  select id, state as was, priority from runs
   where (id = %(id)s or batch_id = %(id)s)
     and (state = any(%(from_states)s) or ('paused' = any(%(from_states)s) and state = 'running' and wanted = 'pause'))
   order by id for update),
first as (
  select id from found where was <> 'running' order by priority desc, id limit %(rung_at_once)s),
unwanted as (
  update runs set wanted = null from found where runs.id = found.id and was = 'running' returning runs.id),
back as (
  update runs
     set state = 'queued', seq = seq + 1, attempt = 1, ready_at = now(), finished_at = null, error = null,
         rung_at = case when first.id is not null then now() end,
         max_turns = case when was = 'failed' then greatest(max_turns, turns + %(more_turns)s) else max_turns end
    from found left join first using (id)
   where runs.id = found.id and was <> 'running'
  returning runs.id, batch_id, seq, role, topic, subject_id, first.id is not null as is_rung, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic, 'reason', %(reason)s::text), at
    from back)
select back.id, seq, role, topic, s.title as subject, is_rung, at from back join subjects s on s.id = subject_id
union all
select id, null, null, null, null, false, null from unwanted
 order by id;

-- count_open
-- The batch row comes last, after its runs.
update batches
   set open_runs = open_runs + %(change)s, finished_at = case when open_runs + %(change)s = 0 then now() end
 where id = %(batch_id)s
returning open_runs;

-- set_budget
update batches set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd) where id = %(batch_id)s
returning spent_usd, budget_usd;

-- models
select distinct model from runs where batch_id = %(batch_id)s order by model;

-- batch_of
select id as batch_id from batches where id = %(id)s
union all
select batch_id from runs where id = %(id)s;

-- states
select state || case wanted when 'cancel' then ' until it is cancelled' when 'pause' then ' until it is paused' else '' end as state,
       count(*) as runs
  from runs where id = %(id)s or batch_id = %(id)s group by 1 order by 1;
