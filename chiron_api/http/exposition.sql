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
select spent_usd::float8 as spent_usd, reserved_usd::float8 as reserved_usd
  from ({{day}}) as today;
