-- Journal and events in partitions, one for each month of the run ids' time, so that old months can be dropped whole.
-- The first 48 bits of an id are the milliseconds at which it was made.

-- All at once and in the order in which workers take them, so that no worker and this migration wait for each other.
lock table runs, entries, tool_results, events in access exclusive mode;

alter table runs add column pruned_at timestamptz;

-- What is there stays where it is and becomes the oldest partition. There is no default partition: it would have to
-- be searched for each new one. There are no foreign keys to runs: the fence of each write proves that the run
-- exists, a key would look it up again, and dropping a partition would lock runs.
do $$
declare
  month timestamp;
  oldest_ends text;
  parent text;
begin
  select date_trunc('month', greatest(now() at time zone 'UTC', max(made))) + interval '1 month' into month
    from (select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone 'UTC' as made
            from runs order by id desc limit 1) newest;
  oldest_ends := to_char(month, 'YYYY_MM');
  foreach parent in array array['entries', 'tool_results', 'events'] loop
    execute format('alter table %1$I drop constraint %2$I', parent, parent || '_run_id_fkey');
    execute format('alter table %1$I rename to %2$I', parent, parent || '_before_' || oldest_ends);
    execute format('alter index %1$I rename to %2$I', parent || '_pkey', parent || '_before_' || oldest_ends || '_pkey');
    execute format('create table %1$I (like %2$I including all) partition by range (run_id)',
                   parent, parent || '_before_' || oldest_ends);
    execute format('alter table %1$I attach partition %2$I for values from (minvalue) to (%3$L)',
                   parent, parent || '_before_' || oldest_ends,
                   (lpad(to_hex((extract(epoch from month) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid);
    -- Two months ahead, for submits of the version before, which make no partitions.
    for ahead in 0..1 loop
      execute format('create table %1$I partition of %2$I for values from (%3$L) to (%4$L)',
        parent || '_' || to_char(month + ahead * interval '1 month', 'YYYY_MM'), parent,
        (lpad(to_hex((extract(epoch from month + ahead * interval '1 month') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid,
        (lpad(to_hex((extract(epoch from month + (ahead + 1) * interval '1 month') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid);
    end loop;
  end loop;
end $$;

-- A run that is deleted is looked for in each table that names it.
create index inbox_run on inbox (run_id);
create index fetches_run on fetches (run_id) where run_id is not null;
create index fact_changes_run on fact_changes (run_id) where run_id is not null;
create index nodes_run on nodes (run_id) where run_id is not null;
create index assessments_run on assessments (run_id) where run_id is not null;

-- While runs was locked nobody could renew a lease: the living holders get time to report back.
update runs set leased_until = greatest(leased_until, clock_timestamp() + interval '30 seconds') where state = 'running';
