-- lock
-- Held until the transaction ends: whoever migrates second waits here.
select pg_advisory_xact_lock(7201842);

-- give_way
-- Less than Postgres' own deadlock_timeout of 1 s, so that in a deadlock it is the migration that lets go, and not a
-- worker with a paid reply in its hands.
set local lock_timeout = '700ms';

-- create_table
create table if not exists schema_migrations (
  version int primary key,
  name text not null,
  applied_at timestamptz not null default now()
);

-- has_table
select to_regclass('schema_migrations') is not null as has;

-- applied
select version from schema_migrations;

-- record
insert into schema_migrations (version, name) values (%(version)s, %(name)s);
