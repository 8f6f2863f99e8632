-- connections
-- Of clients, but for the one that asks.
select count(*)
  from pg_stat_activity
 where backend_type = 'client backend'
   and pid <> pg_backend_pid();

-- open_batches
select count(*)
  from batches
 where finished_at is null;

-- totals
select count(*) filter (where state = 'completed'), count(*) filter (where state = 'failed'), coalesce(sum(turns), 0)
  from runs;
