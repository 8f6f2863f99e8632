-- has_open_runs
exists (select
          from runs r
         where r.batch_id = b.id
           and r.state in ('queued', 'running', 'paused'))

-- is_over
-- Holds nothing. Where the last runs of a batch end at the same time, whoever commits last sees it.
select 1
  from batches b
 where b.id = %(batch_id)s
   and b.finished_at is null
   and not {{has_open_runs}};

-- over
-- Batches of which a process that ended a run has not said so, since it was killed in between. In any order: those that are
-- refused each time keep no others out.
select b.id, exists (select from duty_failures f where f.duty = 'batches' and f.item = b.id::text) as has_failed
  from batches b
 where b.finished_at is null
   and not {{has_open_runs}}
   and not exists (select from duty_failures f where f.duty = 'batches' and f.item = b.id::text and f.retry_at > now())
 order by random()
 limit %(limit)s;

-- lock_last_run
-- In its sequence stands that the batch is completed. Before the batch, as everywhere.
select id
  from runs
 where batch_id = %(batch_id)s
 order by pruned_at is not null, finished_at desc nulls last, id desc
 limit 1
   for update;

-- lock_batch
select exists (select
                 from webhooks w
                where w.owner = b.owner
                  and w.state = 'active') as has_webhooks
  from batches b
 where b.id = %(batch_id)s
   and b.finished_at is null
   for no key update of b;

-- complete
-- The run and the batch are locked by now, so whoever adds to the batch or opens it again comes before or after. No run is
-- open, so nobody adds to its sums, which move to its own row. Where all runs were pruned meanwhile, no event has a place.
with ended as (
  update batches b
     set open_runs = 0,
         finished_at = now(),
         spent_usd = c.spent_usd,
         spent_tokens = c.spent_tokens,
         unconfirmed_usd = c.unconfirmed_usd,
         unconfirmed_tokens = c.unconfirmed_tokens
    from batch_costs c
   where b.id = %(batch_id)s
     and c.batch_id = b.id
     and not {{has_open_runs}}
  returning b.id),
moved as (
  delete from batch_sums
   using ended
   where batch_id = ended.id),
counts as (
  select json_object_agg(state, n) as runs, coalesce(sum(silent), 0) as silent,
         coalesce(sum(nothing_found), 0) as nothing_found
    from (select state, count(*) as n, count(*) filter (where silent) as silent,
                 count(*) filter (where {{nothing_found}}) as nothing_found
            from runs
           where batch_id = %(batch_id)s
           group by state) by_state),
counter as (
  update runs
     set seq = seq + 1
    from ended
   where runs.id = %(run_id)s
     and pruned_at is null
  returning runs.id, batch_id, seq)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq, batch_id, 'batch.completed', json_build_object('runs', runs, 'silent', silent, 'nothing_found', nothing_found)
  from counter, counts
returning seq, at, data;
