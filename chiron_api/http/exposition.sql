-- states
-- From an index alone, so that it reads no rows of runs.
select state, count(*) as runs
  from runs
 group by state;

-- oldest
-- Not negative: runs that wait for a later time come last.
select coalesce(greatest(extract(epoch from now() - min(ready_at)), 0), 0)::float8 as age_s
  from runs
 where state = 'queued';

-- money
select coalesce((select sum(usd)
                   from spending
                  where day = (now() at time zone 'utc')::date), 0)::float8 as spent_usd,
       coalesce((select sum(reserved_usd)
                   from runs
                  where state = 'running'), 0)::float8 as reserved_usd;
