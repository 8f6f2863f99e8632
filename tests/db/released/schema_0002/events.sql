-- heads_of_run
select id, seq, state in ('completed', 'failed', 'cancelled') as is_over from runs where id = %(run_id)s;

-- heads_of_batch
-- The counters of the runs tell exactly which events a watcher lacks. Reading events by time could not: a
-- transaction may commit long after the time it wrote, and clocks are set back.
select r.id, r.seq, b.open_runs = 0 as is_over
  from batches b join runs r on r.batch_id = b.id
 where b.id = %(batch_id)s
 order by r.id;

-- missing
-- The same number of events for each run, so that reading a long history in pages costs no more than its
-- length. Sorting by the latest time so far keeps a run's own order even where a clock was set back.
select run_id, seq, batch_id, kind, at, data
  from (select e.*, max(e.at) over (partition by e.run_id order by e.seq) as reached
          from unnest(%(run_ids)s::uuid[], %(seqs)s::int[]) as known (run_id, seq)
          cross join lateral (
            select * from events where run_id = known.run_id and seq > known.seq order by seq limit %(each)s) e) next
 order by reached, run_id, seq;
