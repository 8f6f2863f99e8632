-- lock
-- All that can be stopped, so that none of them is acquired or handed back in between. The order of the ids is
-- the order of the locks.
select id
  from runs
 where (id = %(id)s or batch_id = %(id)s)
   and state in ('queued', 'running', 'paused')
 order by id
   for update;

-- stop_waiting
-- Runs that nobody holds stop at once.
with stopped as (
  update runs
     set state = %(state)s,
         seq = seq + 1,
         dispatched_at = null,
         finished_at = case when %(closes)s then now() end
   where (id = %(id)s or batch_id = %(id)s)
     and state = any(%(from_states)s)
  returning id, batch_id, seq, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, %(kind)s, %(data)s::json, at
    from stopped)
select id, seq, at
  from stopped
 order by id;

-- request_stop
-- A run that is being executed is stopped by its holder, who learns of it when it renews, or at once over Redis.
-- A pause does not take a cancel back.
update runs
   set stop_requested = %(request)s
 where (id = %(id)s or batch_id = %(id)s)
   and state = 'running'
   and (stop_requested is null or stop_requested = %(request)s or %(request)s = 'cancel')
returning id;

-- budget_by_now
-- What the budget is by now at which a run paused.
(select case error ->> 'unit' || ' of ' || (error ->> 'budget')
                 when 'usd of run' then runs.budget_usd
                 when 'tokens of run' then runs.budget_tokens
                 when 'usd of batch' then b.budget_usd
                 when 'tokens of batch' then b.budget_tokens
               end
          from batches b
         where b.id = runs.batch_id)

-- meets_same_limit
-- A run that paused at a budget which is no higher by now, or cannot pay the call that it paused at: it would pause again.
state = 'paused'
     and error ->> 'kind' = 'budget'
     and ({{budget_by_now}} <= (error ->> 'limit')::numeric
          or {{budget_by_now}} < (error ->> 'least')::numeric)

-- lock_stopped
-- All that can go on. Before the statements that write, for those lock their tables as soon as Postgres reads them, and
-- whoever prunes has the rows of the runs before it locks the tables.
  select id, state as was
    from runs
   where (id = %(id)s or batch_id = %(id)s)
     and (state = any(%(from_states)s)
          or 'paused' = any(%(from_states)s)
             and (state = 'running' and stop_requested = 'pause'
                  or state = 'failed' and error ->> 'kind' = 'max_turns'
                  or state = 'queued' and ready_at > now() and started_at is not null))
     and pruned_at is null
     and ({{meets_same_limit}}) is not true
   order by id
     for update;

-- short_of_money
-- Why runs that meet the same limit again stay paused.
select error ->> 'message' as message,
       {{budget_by_now}} > (error ->> 'limit')::numeric as is_higher
  from runs
 where (id = %(id)s or batch_id = %(id)s)
   and ({{meets_same_limit}}) is true
 order by id
 limit 1;

-- go_on
-- Back into the queue: what was paused, or what ended and is to be tried again. A run that is still being executed
-- stays so if nothing but a pause was requested of it. What was paused before it began still waits for its time; what
-- was handed back to wait for a model or for the next day's money is queued at once. A suspect stays one
-- until it gets further.
with target as (
{{lock_stopped}}),
left_running as (
  update runs
     set stop_requested = null
    from target
   where runs.id = target.id
     and was = 'running'
  returning runs.id),
requeued as (
  update runs
     set state = 'queued',
         seq = seq + 1,
         attempt = 1,
         sole_ends = least(sole_ends, 1),
         finished_at = null,
         error = null,
         ready_at = case when was = 'paused' and started_at is null then ready_at else now() end,
         max_turns = case when was = 'failed' then greatest(max_turns, turns + %(more_turns)s) else max_turns end
    from target
   where runs.id = target.id
     and was <> 'running'
  returning runs.id, batch_id, seq, role, topic, was, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, 'run.queued',
         json_build_object('role', role, 'topic', topic, 'reason', %(reason)s::text), at
    from requeued)
select id, seq, role, topic, was, at
  from requeued
union all
select id, null, null, null, null, null
  from left_running
 order by id;

-- start_over
-- What ended begins anew when it goes on: an epoch without entries, no notes, no skills, as many turns as it had at
-- first. The journal so far stays.
with target as (
  select id
    from runs
   where (id = %(id)s or batch_id = %(id)s)
     and state = any(%(from_states)s)
     and pruned_at is null
   order by id
     for update),
restarted as (
  update runs
     set epoch = epoch + 1,
         answer = null,
         cited = 0,
         max_turns = turns + max_turns - turns_before,
         turns_before = turns
    from target
   where runs.id = target.id
  returning runs.id),
uncited as (
  delete from run_facts
   using restarted
   where run_facts.run_id = restarted.id
     and how = 'cited'),
unloaded as (
  delete from run_skills
   using restarted
   where run_skills.run_id = restarted.id),
undrafted as (
  delete from draft_sections
   using restarted
   where draft_sections.run_id = restarted.id),
not_handed_in as (
  delete from drafts
   using restarted
   where drafts.run_id = restarted.id)
delete from notes
 using restarted
 where notes.run_id = restarted.id;

-- reopen
-- The batch row comes last, after its runs. What is tried again starts now, also before the batch's own time.
update batches
   set open_runs = open_runs + %(count)s,
       ready_at = least(ready_at, now()),
       finished_at = null
 where id = %(batch_id)s;

-- batch_of
select id as batch_id
  from batches
 where id = %(id)s
union all
select batch_id
  from runs
 where id = %(id)s;

-- states
select state
       || case stop_requested
            when 'cancel' then ' until it is cancelled'
            when 'pause' then ' until it is paused'
            else ''
          end
       || case when pruned_at is not null then ' and pruned' else '' end as state,
       count(*) as runs
  from runs
 where id = %(id)s
    or batch_id = %(id)s
 group by 1
 order by 1;
