-- database_state
select to_regclass('schema_migrations') is not null as is_ours,
       current_setting('server_version_num')::int / 10000 as major;

-- connected_clients
-- Workers, pools and people's own sessions alike: any connection may write.
select coalesce(nullif(application_name, ''), 'unnamed') as name, count(*) as connections
  from pg_stat_activity
 where datname = current_database()
   and pid <> pg_backend_pid()
   and backend_type = 'client backend'
 group by 1
 order by 1;

-- has_data
-- Every row of Chiron's belongs to a subject, except the pages that were fetched.
select exists (select from subjects) or exists (select from snapshots) as has_data;

-- vector_tables
select table_name
  from embedding_spaces
 order by id;

-- begin
-- A longer wait for a lock means that somebody is connected who should not be.
begin;
set lock_timeout = '10s';

-- drop
drop table if exists {tables} cascade;
drop function if exists copy_renamed_run_columns;

-- commit
commit;
