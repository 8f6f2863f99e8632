-- missing
-- The months that no partition covers yet, and the time by the server's clock. The partition of what was there before
-- there were partitions is called after the month it ends before.
select now() as now, array(
  select month from unnest(%(months)s::text[]) as month
   where not exists (
     select from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'events'::regclass
        and (relname = 'events_' || month
             or (relname like 'events\_before\_%%' and relname > 'events_before_' || month)))
   order by month) as months;

-- lock
-- One at a time, so that whoever comes second finds the partition made. The wait is bounded, and no reader or writer
-- of the journal waits for it.
select set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '2s', true),
       pg_advisory_xact_lock(7201845);

-- create
create table {partition} (like {parent} including all);

-- attach
-- Unlike `create table ... partition of`, this locks out no reader and no writer.
alter table {parent} attach partition {partition} for values from ({low}) to ({high});

-- all
select substr(relname, length('events_') + 1) as name,
       (select coalesce(sum(pg_total_relation_size(to_regclass(parent || substr(relname, length('events') + 1)))),
                        0)::bigint
          from unnest(%(parents)s::text[]) as parent) as bytes
  from pg_inherits join pg_class on pg_class.oid = inhrelid
 where inhparent = 'events'::regclass;
