-- lock
-- One rescuer at a time; the others have nothing to add.
select pg_try_advisory_xact_lock(7201843) as held;

-- expired
-- Runs whose holder is not heard of. After a restart of Postgres the living holders get a whole lease to
-- report back, so that nobody takes a run from a worker that waits with a paid reply in its hands. When a backend
-- crashes, the postmaster stays and starts the other processes again; who may not see them has its own start only.
select id, batch_id, lease, worker, steps = steps_at_claim and attempt >= %(max_attempts)s as used_up
  from runs
 where state = 'running'
   and leased_until < now()
   and greatest(pg_postmaster_start_time(),
                (select max(backend_start)
                   from pg_stat_activity
                  where backend_type = 'checkpointer')) < now() - %(lease_for)s
 order by id
 limit %(limit)s
   for update skip locked;
