-- is_ours
select to_regclass('schema_migrations') is not null as is_ours;

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
select table_name, dimensions
  from embedding_spaces
 order by id;

-- set_limits
-- A lock that is held for 10 s belongs to a client that should not be connected. Our triggers are off, as the backup has the rows that
-- they would add.
select set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '0', true),
       set_config('statement_timeout', '0', true), set_config('chiron.restores', 'on', true);

-- drop
drop table if exists {tables} cascade;

-- drop_functions
drop function if exists {functions};

-- versions
select version
  from schema_migrations;

-- names
-- The names of all objects in this schema as pg_dump writes them in its table of contents. `has_rows`: an ordinary table. Cast to
-- text, since the type `name` is cut at 63 bytes and the name of a function includes its argument types.
with relations as (
  select * from pg_class where relnamespace = current_schema()::regnamespace
)
select relname::text as name, relkind = 'r' as has_rows from relations
union all
select relname || ' ' || conname, false from pg_constraint join relations on relations.oid = conrelid
union all
select relname || ' ' || tgname, false from pg_trigger join relations on relations.oid = tgrelid where not tgisinternal
union all
select proname || '(' || oidvectortypes(proargtypes) || ')', false
  from pg_proc
 where pronamespace = current_schema()::regnamespace;

-- partitions
select inhrelid::regclass::text as name
  from pg_inherits
  join pg_class on pg_class.oid = inhparent
 where relkind = 'p'
   and relnamespace = current_schema()::regnamespace
   and relname = any(%(parents)s::text[]);

-- is_partitioned
select exists (select from pg_class where relname = %(parent)s and relkind = 'p'
                                      and relnamespace = current_schema()::regnamespace) as is_partitioned;

-- drop_partition
drop table {table};

-- references
-- Which tables have to be there before another one, as its foreign keys are checked while its rows come in.
select conrelid::regclass::text as name, confrelid::regclass::text as referenced
  from pg_constraint
 where contype = 'f'
   and conrelid <> confrelid
   and connamespace = current_schema()::regnamespace;

-- columns
select attname as name
  from pg_attribute
 where attrelid = %(table)s::regclass
   and attnum > 0
   and not attisdropped
   and attgenerated = '';

-- add_column
alter table {table} add column if not exists {column} text;

-- drop_column
alter table {table} drop column {column};

-- root
-- A partition gets and loses columns with the table that it is a part of.
select coalesce((select inhparent from pg_inherits where inhrelid = %(table)s::regclass), %(table)s::regclass)::regclass::text
       as name;

-- set_encoding
select set_config('client_encoding', %(encoding)s, true);

-- copy
copy {table} ({columns}) from stdin;

-- is_superuser
select rolsuper as is_superuser
  from pg_roles
 where rolname = current_user;

-- create_role
create role {role};

-- grant_usage
grant usage on schema {schema} to {role};

-- current_schema
select current_schema() as name;

-- grant_insert
grant insert on {table} to {role};

-- take_role
set local role {role};

-- leave_role
reset role;

-- drop_owned
drop owned by {role};

-- drop_role
drop role {role};

-- identities
select relname as name, attname as column
  from pg_attribute
  join pg_class on pg_class.oid = attrelid
 where attidentity <> ''
   and relnamespace = current_schema()::regnamespace
   and relname = any(%(tables)s::text[]);

-- advance
select setval(pg_get_serial_sequence({name}, {column_name}), coalesce(max({column}), 1), max({column}) is not null)
  from {table};
