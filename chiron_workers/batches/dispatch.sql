-- lock
-- One look at a time, in a statement before those that count, so that they see what the one before has dispatched. A
-- worker that is stopped in the middle of a look loses its session after two seconds, and the others go on.
select set_config('lock_timeout', '5s', true),
       set_config('idle_in_transaction_session_timeout', '2s', true),
       pg_advisory_xact_lock(7201846);

-- outstanding
-- Dispatched runs that nobody has acquired: young ones, and those old enough to be dispatched again. Those of a model
-- that is held wait for it, and take no room. Runs that could not be marked rest, and take none either.
with failure as materialized (
  select item::uuid as id, retry_at > now() as is_resting
    from duty_failures
   where duty = 'dispatch')
select count(*) filter (where dispatched_at >= now() - %(redispatch_after)s) as young,
       count(*) filter (where dispatched_at < now() - %(redispatch_after)s) as old,
       array(select id from failure) as failed,
       array(select id from failure where is_resting) as resting
  from runs
 where state = 'queued'
   and dispatched_at is not null
   and id not in (select id from failure where is_resting)
   and not exists (select from holds h where h.model = runs.model and (h.until > now() or h.probe_run <> runs.id and h.probed_by > now()));

-- dispatch_again
-- A message may be lost. Its run holds its place, within the limits too, and so is dispatched before any other.
select id
  from runs
 where state = 'queued'
   and dispatched_at < now() - %(redispatch_after)s
   and id <> all(%(resting)s::uuid[])
   and not exists (select from holds h where h.model = runs.model and (h.until > now() or h.probe_run <> runs.id and h.probed_by > now()))
 order by priority desc, dispatched_at, id
 limit %(limit)s
   for update skip locked;

-- dispatch_next
-- A group is what waits of one batch for one model. `waiting` goes from the head of one group to that of the next
-- through the index, so it costs as much with one run in each as with 100,000. A run's turn is the number of its
-- batch's runs that would be under way once it is: the lowest goes first. No more batches than there is room for can
-- win a place, and the n-th of them no more than the n - 1 before it leave. Where a model's limit leaves out some of
-- these, the next look continues. A suspect is blocked while another one is under way, which a
-- dispatched one is not while its model is held or it rests; the one that has been tried least has its turn.
-- A run that rests is blocked, too.
with recursive waiting as (
  (select batch_id, model, priority, id, ready_at
     from runs
    where state = 'queued'
      and dispatched_at is null
    order by batch_id, model, priority desc, id
    limit 1)
  union all
  select next.*
    from waiting
   cross join lateral (
     select batch_id, model, priority, id, ready_at
       from runs
      where state = 'queued'
        and dispatched_at is null
        and (batch_id, model) > (waiting.batch_id, waiting.model)
      order by batch_id, model, priority desc, id
      limit 1) next),
busy as materialized (
  select batch_id, model, count(*) as runs
    from (select batch_id, model
            from runs
           where state = 'running'
          union all
          select batch_id, model
            from runs
           where state = 'queued'
             and dispatched_at is not null) under_way
   group by batch_id, model),
busy_batches as (
  select batch_id, sum(runs)::int as runs
    from busy
   group by batch_id),
models as (
  select model, runs_max - coalesce(sum(runs), 0)::int as room
    from unnest(%(models)s::text[], %(limits)s::int[]) as limits (model, runs_max)
    left join busy using (model)
   group by model, runs_max),
groups as (
  select w.*, coalesce(busy_batches.runs, 0) as busy, models.room as model_room,
         coalesce(b.concurrency - coalesce(busy_batches.runs, 0), %(limit)s) as room
    from waiting w
    join batches b on b.id = w.batch_id and b.ready_at <= now()
    left join busy_batches on busy_batches.batch_id = w.batch_id
    left join models on models.model = w.model
   where coalesce(models.room > 0, true)
     and not exists (select
                       from holds h
                       left join runs p on p.id = h.probe_run
                      where h.model = w.model
                        and (h.until > now() or p.batch_id <> w.batch_id and h.probed_by > now()))),
suspects as materialized (
  select id, batch_id, model, priority, ready_at, sole_ends, dispatched_at,
         state = 'running'
         or dispatched_at is not null
            and id <> all(%(resting)s::uuid[])
            and not exists (select from holds h where h.model = runs.model and (h.until > now() or h.probe_run <> runs.id and h.probed_by > now())) as is_under_way
    from runs
   where state in ('queued', 'running')
     and {{is_suspect}}),
next_suspect as (
  select s.id
    from suspects s
    join groups using (batch_id, model)
   where room > 0
     and s.dispatched_at is null
     and s.ready_at <= now()
     and s.id <> all(%(resting)s::uuid[])
     and not exists (select from suspects where is_under_way)
     and s.id = coalesce((select probe_run from holds h where h.model = s.model and h.probed_by > now()), s.id)
   order by sole_ends, s.priority desc, s.id
   limit 1),
blocked as materialized (
  select id
    from suspects
   where not is_under_way
  except
  select id
    from next_suspect
  union all
  select unnest(%(resting)s::uuid[])),
heads as materialized (
  select batch_id, model, busy, room, model_room, head.priority, head.id
    from groups
   cross join lateral (
     select groups.priority, groups.id
      where groups.ready_at <= now()
        and groups.id not in (select id from blocked)
     union all
     (select priority, id
        from runs
       where (groups.ready_at > now() or groups.id in (select id from blocked))
         and batch_id = groups.batch_id
         and model = groups.model
         and state = 'queued'
         and dispatched_at is null
         and ready_at <= now()
         and id not in (select id from blocked)
       order by priority desc, id
       limit 1)) head
   where room > 0),
ranked as (
  select batch_id, row_number() over (order by priority desc, busy, id) as place
    from (select distinct on (batch_id) batch_id, priority, busy, id
            from heads
           order by batch_id, priority desc, id) first
   order by place
   limit %(limit)s),
candidates as (
  select run.id, run.priority, model, model_room, room, busy,
         row_number() over (partition by batch_id order by run.priority desc, run.id) as position
    from ranked
    join heads using (batch_id)
   cross join lateral (
     select id, priority
       from runs
      where batch_id = heads.batch_id
        and model = heads.model
        and state = 'queued'
        and dispatched_at is null
        and ready_at <= now()
        and id not in (select id from blocked)
        and id = coalesce((select probe_run from holds h where h.model = heads.model and h.probed_by > now()), id)
      order by priority desc, id
      limit least(room, %(limit)s - place + 1)) run),
fitting as (
  select id, priority, model_room, busy + position as turn,
         row_number() over (partition by model order by priority desc, busy + position, id) as in_model
    from candidates
   where position <= room),
winners as (
  select id, row_number() over (order by priority desc, turn, id) as place
    from fitting
   where coalesce(in_model <= model_room, true)
   order by place
   limit %(limit)s)
-- coalesce() so that no partial index seems to fit: before the first analyze the planner takes them for empty.
select r.id
  from runs r
  join winners using (id)
 where r.state = 'queued'
   and coalesce(r.dispatched_at, 'infinity') = 'infinity'
 order by place
   for update of r skip locked;

-- mark
update runs
   set dispatched_at = now()
 where id = any(%(ids)s)
returning id, role, topic, (select title from subjects s where s.id = subject_id) as subject;

-- undo
-- Runs whose messages could not be sent: the next look decides anew.
update runs
   set dispatched_at = null
 where id = any(%(run_ids)s)
   and state = 'queued';
