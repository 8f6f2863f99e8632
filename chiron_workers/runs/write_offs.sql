-- lock_run
-- Before the batch, as everywhere. The cost of a run that has ended is final.
select batch_id
  from runs
 where id = %(run_id)s
   and state in ('queued', 'running', 'paused')
   for no key update;

-- lock_batch
-- So that it is not completed meanwhile, which moves its sums.
select 1
  from batches
 where id = %(batch_id)s
   and finished_at is null
   for share;

-- settle
-- Replaces the amount that was written off for a call by its real cost: in the run, on the day of the write-off, and in the batch. The
-- lease under which it was made is over, so nothing else of the run changes.
with settled as (
  update write_offs
     set settled_at = clock_timestamp(),
         service = %(service)s,
         input_tokens = %(input_tokens)s,
         output_tokens = %(output_tokens)s,
         cache_write_tokens = %(cache_write_tokens)s,
         cache_read_tokens = %(cache_read_tokens)s,
         cost_usd = coalesce(%(cost_usd)s::numeric, 0)
   where run_id = %(run_id)s
     and token = %(token)s
     and call = any(%(calls)s::int[])
     and settled_at is null
  returning run_id, at, service),
counted as (
  update runs r
     set unconfirmed_usd = greatest(unconfirmed_usd - %(reserved_usd)s, 0),
         unconfirmed_tokens = greatest(unconfirmed_tokens - %(reserved_tokens)s, 0),
         unconfirmed_calls = greatest(unconfirmed_calls - 1, 0),
         unpriced_calls = unpriced_calls + %(unpriced_calls)s - (price is not distinct from '"none"'::jsonb)::int,
         input_tokens = input_tokens + %(input_tokens)s,
         output_tokens = output_tokens + %(output_tokens)s,
         cache_write_tokens = cache_write_tokens + %(cache_write_tokens)s,
         cache_read_tokens = cache_read_tokens + %(cache_read_tokens)s,
         spent_usd = spent_usd + coalesce(%(cost_usd)s::numeric, 0),
         services_usd = services_usd + case when settled.service is null then 0 else %(cost_usd)s::numeric end
    from settled
   where r.id = settled.run_id
  returning r.batch_id, settled.at),
paid as (
  insert into batch_sums (batch_id, shard, spent_usd, spent_tokens, unconfirmed_usd, unconfirmed_tokens)
  select batch_id, %(shard)s, coalesce(%(cost_usd)s::numeric, 0), %(tokens)s, - %(reserved_usd)s::numeric, - %(reserved_tokens)s::bigint
    from counted
      on conflict (batch_id, shard) do update
     set spent_usd = batch_sums.spent_usd + excluded.spent_usd,
         spent_tokens = batch_sums.spent_tokens + excluded.spent_tokens,
         unconfirmed_usd = batch_sums.unconfirmed_usd + excluded.unconfirmed_usd,
         unconfirmed_tokens = batch_sums.unconfirmed_tokens + excluded.unconfirmed_tokens),
spent_that_day as (
  insert into spending (day, shard, usd)
  select (at at time zone 'utc')::date, %(shard)s, coalesce(%(cost_usd)s::numeric, 0) - %(reserved_usd)s
    from counted
   where coalesce(%(cost_usd)s::numeric, 0) <> %(reserved_usd)s
      on conflict (day, shard) do update set usd = spending.usd + excluded.usd)
select 1 as is_settled
  from counted;
