-- server
-- Which server this is: no two have started at the same microsecond. A standby renews nobody's lease.
select pg_postmaster_start_time() as started_at, pg_is_in_recovery() as is_standby,
       clock_timestamp() as now;

-- shorten_leases
-- After a step back of the server's clock leases last longer by that step, those of workers that are gone, too. The living
-- renew theirs anyway.
with longer as (
  select id
    from runs
   where state = 'running'
     and leased_until > clock_timestamp() + %(lease_for)s
     for update skip locked)
update runs
   set leased_until = clock_timestamp() + %(lease_for)s
  from longer
 where runs.id = longer.id;
