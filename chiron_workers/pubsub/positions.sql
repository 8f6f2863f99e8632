-- tag
-- Tells the cursors of this batch in this database from all others, whose transactions have other numbers.
select system_identifier || '/' || (select oid from pg_database where datname = current_database()) as place
  from pg_control_system();

-- latest
pg_snapshot_xmax(pg_current_snapshot())::text::bigint

-- survey
-- How far runs have come, all in one snapshot, which is the first row. A run's row is written with each of its events, so
-- those whose row is older than the snapshot of the survey before (`since`, its xmin) have come no further. A row's xmin
-- has 32 bits; the others are those of the latest transaction or one less.
-- Of a pruned run nothing can be read any more, so nothing of it is missing.
select null::uuid as target_id, null::uuid as run_id, null::int as seq, null::bool as is_over,
       pg_current_snapshot()::text as snapshot
union all
select id, null, null, open_runs = 0, null
  from batches
 where id = any(%(batch_ids)s)
union all
select batch_id, id, case when pruned_at is null then seq else 0 end, null, null
  from runs
 where batch_id = any(%(batch_ids)s)
   and {{latest}} - (({{latest}} - xmin::text::bigint) & 4294967295) >= %(since)s
union all
select id, id, case when pruned_at is null then seq else 0 end, state in ('completed', 'failed', 'cancelled'), null
  from runs
 where id = any(%(run_ids)s);

-- seqs
-- How many events of each run of a batch a snapshot shows. A run's events commit in order of seq, since each locks the run's
-- row until then, so the newest one that the snapshot shows is the last. Where the snapshot shows the run's row, it is that
-- row's seq. A snapshot that this database has not come to yet is another's: no row.
with run as (
  select id, seq, pruned_at, {{latest}} - (({{latest}} - xmin::text::bigint) & 4294967295) as xid
    from runs
   where batch_id = %(batch_id)s)
select id,
       case when pruned_at is not null then 0
            when xid < %(xmin)s or pg_visible_in_snapshot(xid::text::xid8, %(snapshot)s::pg_snapshot) then seq
            else coalesce((
              select e.seq
                from (select seq, {{latest}} - (({{latest}} - xmin::text::bigint) & 4294967295) as xid
                        from events
                       where run_id = run.id) e
               where e.xid < %(xmin)s
                  or pg_visible_in_snapshot(e.xid::text::xid8, %(snapshot)s::pg_snapshot)
               order by e.seq desc
               limit 1), 0)
       end as seq
  from run
 where {{latest}} >= %(xmax)s
 order by id;
