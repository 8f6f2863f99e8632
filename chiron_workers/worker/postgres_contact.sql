-- server
-- Which server this is: no two have started at the same microsecond. A standby renews nobody's lease.
select pg_postmaster_start_time() as started_at, pg_is_in_recovery() as is_standby;
