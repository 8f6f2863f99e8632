-- begin_alone
-- One rescuer at a time; the others have nothing to add.
select pg_try_advisory_xact_lock(7201843) as may_look, pg_postmaster_start_time() as started_at, now();

-- begin
select true as may_look, pg_postmaster_start_time() as started_at, now();

-- has_failed
exists (select from duty_failures f where f.duty = 'rescue' and f.item = runs.id::text)

-- is_resting
exists (select from duty_failures f where f.duty = 'rescue' and f.item = runs.id::text and f.retry_at > now())

-- ending
-- Runs whose holder has let its lease run down to less than the notice, or out. Those of one worker together.
select id
  from runs
 where state = 'running'
   and leased_until < now() + %(notice)s
   and not {{is_resting}}
 order by worker, id
 limit %(limit)s
   for update skip locked;

-- touch
update runs
   set leased_until = leased_until
 where id = any(%(ids)s);

-- expired
-- Runs of these whose holder is not heard of.
select id, batch_id, lease, token, worker, attempt, steps > steps_at_claim as has_progressed, {{has_failed}} as has_failed
  from runs
 where id = any(%(ids)s)
   and state = 'running'
   and leased_until < now()
 order by id
   for update skip locked;
