-- heads_of_run
-- Of a pruned run nothing can be read any more, so nothing of it is missing.
select id,
       case when pruned_at is null then seq else 0 end as seq,
       state in ('completed', 'failed', 'cancelled') as is_over
  from runs
 where id = %(run_id)s;

-- heads_of_batch
-- The counters of the runs tell exactly which events a watcher lacks. Reading events by time could not: a
-- transaction may commit long after the time it wrote, and clocks are set back.
select r.id, case when r.pruned_at is null then r.seq else 0 end as seq, b.open_runs = 0 as is_over
  from batches b
  join runs r on r.batch_id = b.id
 where b.id = %(batch_id)s
 order by r.id;

-- page
-- The same number of events for each run, so that reading a long history in pages costs no more than its
-- length. Sorting by the latest time so far keeps a run's own order even where a clock was set back. The range spares
-- the planner all partitions but those of these runs.
select run_id, seq, batch_id, kind, at, data
  from (select e.*, max(e.at) over (partition by e.run_id order by e.seq) as reached
          from unnest(%(run_ids)s::uuid[], %(seqs)s::int[]) as head (run_id, seq)
         cross join lateral (
           select *
             from events
            where run_id = head.run_id
              and run_id between %(first)s and %(last)s
              and seq > head.seq
            order by seq
            limit %(each)s) e) next
 order by reached, run_id, seq;
