-- undone
-- The dispatch of a held model's runs is undone, or they would keep the runs of other models waiting.
dispatched as (
  select id
    from runs
    join hold using (model)
   where state = 'queued'
     and dispatched_at is not null
     for update of runs skip locked),
undone as (
  update runs
     set dispatched_at = null
    from dispatched
   where runs.id = dispatched.id)

-- hold
-- Each run that the model refuses calls this. Only the first writes, and one that knows of a later end.
with hold as (
  insert into holds (model, until, reason)
  values (%(model)s, now() + %(hold_for)s, %(reason)s)
      on conflict (model) do update
     set until = excluded.until,
         reason = excluded.reason,
         refused_at = null,
         probe_run = null,
         probed_by = null
   where holds.until < excluded.until - interval '5 seconds'
  returning model),
{{undone}}
select model
  from hold;

-- active
select model, until, reason
  from holds
 where until > now()
    or probed_by > now()
 order by model;

-- lift
delete from holds
 where (until > now() or refused_at is not null)
   and model in (select model
                   from runs
                  where id = %(id)s
                     or batch_id = %(id)s)
returning model;

-- hold_refused
-- Of concurrent refusals only the first writes. `refused_at` is when the refusals began; it is reset once no run has tried the key
-- for a while.
with hold as (
  insert into holds (model, until, reason, refused_at, probe_run, probed_by)
  values (%(model)s, now() + %(hold_for)s, %(reason)s, now(), %(run_id)s, now() + %(hold_for)s + %(probe_for)s)
      on conflict (model) do update
     set until = greatest(holds.until, excluded.until),
         reason = excluded.reason,
         refused_at = case when holds.probed_by > now() - %(lasting)s then holds.refused_at else excluded.refused_at end,
         probe_run = excluded.probe_run,
         probed_by = greatest(holds.until, excluded.until) + %(probe_for)s
   where holds.refused_at is null
      or holds.until < excluded.until - interval '5 seconds'
  returning model, refused_at),
{{undone}}
select refused_at <= now() - %(lasting)s as is_lasting
  from hold;

-- end_refusal
with hold as (
  delete from holds
   where model = %(model)s
     and refused_at is not null
  returning model),
{{undone}}
select model
  from hold;

-- pause_refused
-- The runs that wait now. The runs of a batch that begins later are refused themselves.
with waiting as (
  select r.id
    from runs r
    join batches b on b.id = r.batch_id
   where r.model = %(model)s
     and r.state = 'queued'
     and b.ready_at <= now()
   order by r.id
   limit %(runs_max)s
     for update of r skip locked),
paused as (
  update runs
     set state = 'paused',
         seq = seq + 1,
         dispatched_at = null,
         error = %(error)s::json
    from waiting
   where runs.id = waiting.id
  returning runs.id, batch_id, seq, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq, batch_id, %(kind)s, %(data)s::json, at
    from paused)
select id, batch_id, seq, at
  from paused
 order by batch_id, id;
