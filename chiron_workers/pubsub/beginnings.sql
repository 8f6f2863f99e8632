-- begin
-- All statements of this transaction see one snapshot, which is the position that a stream goes on from.
set transaction isolation level repeatable read, read only;

-- sums_of_runs
-- The snapshot, and what the runs have come to in it. Of a pruned run no event can be read any more.
select pg_current_snapshot()::text as snapshot,
       now() as at,
       min(batch_id::text)::uuid as batch_id,
       json_object_agg(state, n) as counts,
       {{progress_sums}},
       coalesce(sum(events), 0)::bigint as events
  from (select state,
               batch_id,
               count(*) as n,
               {{progress_parts}},
               sum(seq) filter (where pruned_at is null) as events
          from runs
         where {scope}
         group by state, batch_id) by_state;

-- heads
select id, case when pruned_at is null then seq else 0 end as seq
  from runs
 where batch_id = %(batch_id)s
 order by id;

-- states
select id, number, topic, state, facts, confirmed, cited, turns
  from runs
 where {scope}
 order by id;

-- recent
-- The newest events of a batch: they are of the runs with the newest last events, so only those are read any further.
-- The range spares the planner all partitions but those of these runs.
with run as (
  select runs.id, runs.seq
    from runs
   cross join lateral (
     select at
       from events
      where run_id = runs.id
        and run_id between %(first)s and %(last)s
        and seq = runs.seq) newest
   where batch_id = %(batch_id)s
     and pruned_at is null
   order by newest.at desc
   limit %(limit)s)
select event.*
  from run
 cross join lateral (
   select run_id, seq, batch_id, kind, at, data
     from events
    where run_id = run.id
      and run_id between %(first)s and %(last)s
      and seq > run.seq - %(limit)s
      and seq <= run.seq) event
 order by at desc, run_id, seq desc
 limit %(limit)s;
