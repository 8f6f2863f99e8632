-- lock
-- Held until the connection ends, over the transactions of all migrations: whoever migrates second waits here.
select pg_advisory_lock(7201842);

-- give_way
-- Less than Postgres' own deadlock_timeout of 1 s, so that in a deadlock it is the migration that lets go, and not a
-- worker with a paid reply in its hands.
set local lock_timeout = '700ms';

-- report_back
-- While a migration holds runs nobody can renew a lease: the living holders get time to report back before a rescue,
-- which waited for the same lock, takes their runs for lost. A run that somebody writes just now is
-- renewed by that, from the moment it is written.
update runs set leased_until = greatest(leased_until, clock_timestamp() + interval '30 seconds')
 where id in (select id from runs where state = 'running' for no key update skip locked);

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
