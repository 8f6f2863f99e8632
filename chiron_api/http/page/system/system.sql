-- clock
select now() as now, (select max(version) from schema_migrations) as version,
       (select name from schema_migrations order by version desc limit 1) as schema,
       current_setting('server_version') as server;

-- workers
-- Whoever has leases, with the run that it has had for longest, if that may be seen. A worker without runs has no row.
select coalesce(worker, '') as worker, count(*)::int as runs, max(leased_until) as leased_until,
       count(*) filter (where leased_until < now())::int as lost, min(started_at) as started_at,
       case when %(owner)s::text is null then (array_agg(id order by started_at, id))[1] end as oldest_id
  from runs
 where state = 'running'
 group by worker
 order by count(*) desc, worker
 limit %(limit)s;

-- queue
-- What waits of each model. A run that may not start yet waits for its time, and not for a worker.
select model, count(*)::int as runs, count(*) filter (where dispatched_at is not null)::int as dispatched,
       count(*) filter (where ready_at > now())::int as later,
       min(ready_at) filter (where ready_at <= now()) as oldest_at,
       (select count(*) from runs r where r.state = 'running' and r.model = runs.model)::int as running
  from runs
 where state = 'queued'
 group by model
 order by oldest_at nulls last, model
 limit %(limit)s;

-- duties
-- What else workers have to do.
select (select count(*) from rechecks where finished_at is null)::int as rechecks,
       (select count(*) from subscriptions where state = 'active')::int as subscriptions,
       (select min(next_at) from subscriptions where state = 'active') as next_at;
