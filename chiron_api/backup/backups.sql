-- standing
select to_regclass('schema_migrations') is not null as is_ours, current_setting('server_version_num')::int / 10000 as major;

-- others
-- Renewals, pools and people's own sessions alike: whoever is connected may write.
select coalesce(nullif(application_name, ''), 'unnamed') as name, count(*) as connections
  from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
 group by 1 order by 1;

-- has_data
-- All that is ever stored names a subject, or is a page that was fetched.
select exists (select from subjects) or exists (select from snapshots) as has;

-- vectors
select table_name from embedding_spaces order by id;

-- begin
-- What waits for a lock longer than this waits for somebody who should not be connected.
begin;
set lock_timeout = '10s';

-- drop
drop table if exists {tables} cascade;

-- commit
commit;
