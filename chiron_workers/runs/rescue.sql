-- lock
-- One rescuer at a time; the others have nothing to add.
select pg_try_advisory_xact_lock(7201843) as held, pg_postmaster_start_time() as server_started_at, now();

-- expired
-- Runs whose holder is not heard of.
select id
  from runs
 where state = 'running'
   and leased_until < now()
 order by id
 limit %(limit)s
   for update skip locked;

-- prolong
with prolonged as (
  update runs
     set leased_until = now() + %(notice)s
   where id = any(%(ids)s)
)
select now() + %(notice)s as until;

-- still_expired
-- Runs whose holder has not renewed what was prolonged.
select id, batch_id, lease, worker, steps = steps_at_claim and attempt >= %(max_attempts)s as used_up
  from runs
 where id = any(%(ids)s)
   and state = 'running'
   and leased_until = %(until)s
   and leased_until < now()
 order by id
   for update skip locked;
