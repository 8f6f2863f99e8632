-- first_commits
-- When each run first got something into its journal after a moment.
select extract(epoch from min(at))::float8 as at
  from entries
 where at > to_timestamp(%(since)s)
 group by run_id
 order by at;
