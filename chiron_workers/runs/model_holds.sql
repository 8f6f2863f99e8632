-- hold
-- Whoever is turned away says so; among many only the first, or one that knows of a later end, writes. The dispatch of
-- runs of the model is undone, so that they do not keep those of other models waiting.
with hold as (
  insert into holds (model, until, reason)
  values (%(model)s, now() + %(hold_for)s, %(reason)s)
      on conflict (model) do update set until = excluded.until, reason = excluded.reason
   where holds.until < excluded.until - interval '5 seconds'
  returning model),
dispatched as (
  select id
    from runs
    join hold using (model)
   where state = 'queued'
     and dispatched_at is not null
     for update of runs skip locked)
update runs
   set dispatched_at = null
  from dispatched
 where runs.id = dispatched.id;

-- active
select model, until, reason
  from holds
 where until > now()
 order by model;

-- lift
delete from holds
 where until > now()
   and model in (select model
                   from runs
                  where id = %(id)s
                     or batch_id = %(id)s)
returning model;
