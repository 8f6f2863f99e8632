-- reserve
-- Where nothing but the run's own budget binds, its row alone decides. The commit does not wait for the disk: a
-- crash of Postgres may forget what calls in flight have reserved, and their replies settle all the same.
-- Whoever reserves is alive, so the lease is renewed: a call that begins is not taken over a moment later.
-- The call's number makes it safe to repeat when nobody knows whether the commit arrived.
update runs r
   set leased_until = greatest(r.leased_until, clock_timestamp() + %(lease_for)s),
       reserved_usd = r.reserved_usd + %(usd)s,
       reserved_tokens = r.reserved_tokens + %(tokens)s,
       reserved_calls = r.reserved_calls + 1,
       calls_in_flight = r.calls_in_flight || %(call)s::int
  from batches b
 where r.id = %(run_id)s
   and r.lease = %(lease)s
   and r.state = 'running'
   and %(call)s <> all(r.calls_in_flight)
   and b.id = r.batch_id
   and b.budget_usd is null
   and b.budget_tokens is null
   and %(daily_usd)s::numeric is null
   and (r.budget_usd is null
        or %(keeps_budgets)s
           and r.spent_usd + r.unconfirmed_usd + r.reserved_usd + %(usd)s <= r.budget_usd)
   and (r.budget_tokens is null
        or r.spent_tokens + r.unconfirmed_tokens + r.reserved_tokens + %(tokens)s <= r.budget_tokens)
returning set_config('synchronous_commit', 'off', true);

-- lock_run
select batch_id, budget_usd, spent_usd + unconfirmed_usd as spent_usd, reserved_usd,
       budget_tokens, spent_tokens + unconfirmed_tokens as spent_tokens, reserved_tokens,
       %(call)s = any(calls_in_flight) as is_reserved,
       set_config('synchronous_commit', 'off', true)
  from runs
 where id = %(run_id)s
   and lease = %(lease)s
   and state = 'running'
   for update;

-- lock_batch
-- After the run, as everywhere. Whoever reserves from a batch's budget waits here for the one before.
select budget_usd, spent_usd + unconfirmed_usd as spent_usd,
       budget_tokens, spent_tokens + unconfirmed_tokens as spent_tokens
  from batches
 where id = %(batch_id)s
   for update;

-- lock_day
-- Whoever reserves from the day's money waits here for the one before.
select pg_advisory_xact_lock(7201848);

-- reserved_of_batch
select coalesce(sum(reserved_usd), 0) as reserved_usd, coalesce(sum(reserved_tokens), 0)::bigint as reserved_tokens
  from runs
 where batch_id = %(batch_id)s
   and state = 'running';

-- day
-- Of this moment, and not of the transaction's begin: it may have waited for the lock over midnight. What is reserved counts
-- against every day, since a call counts on the day on which it is settled.
with clock as materialized (
  select clock_timestamp() as at)
select coalesce((select sum(usd)
                   from spending
                  where day = (clock.at at time zone 'utc')::date), 0) as spent_usd,
       coalesce((select sum(reserved_usd)
                   from runs
                  where state = 'running'), 0) as reserved_usd,
       extract(epoch from date_trunc('day', clock.at, 'utc') + interval '1 day' - clock.at)::float as day_ends_in_s
  from clock;

-- add
update runs
   set leased_until = greatest(leased_until, clock_timestamp() + %(lease_for)s),
       reserved_usd = reserved_usd + %(usd)s,
       reserved_tokens = reserved_tokens + %(tokens)s,
       reserved_calls = reserved_calls + 1,
       calls_in_flight = calls_in_flight || %(call)s::int
 where id = %(run_id)s;

-- is_held
select 1
  from runs
 where id = %(run_id)s
   and lease = %(lease)s
   and state = 'running';

-- release
update runs
   set reserved_usd = greatest(reserved_usd - %(usd)s, 0),
       reserved_tokens = greatest(reserved_tokens - %(tokens)s, 0),
       reserved_calls = greatest(reserved_calls - 1, 0),
       calls_in_flight = array_remove(calls_in_flight, %(call)s)
 where id = %(run_id)s
   and lease = %(lease)s
   and state = 'running'
   and %(call)s = any(calls_in_flight)
returning set_config('synchronous_commit', 'off', true);

-- write_off
-- A call that was cut: whoever answers may bill it, and its reply is lost.
with fence as (
  update runs
     set reserved_usd = greatest(reserved_usd - %(usd)s, 0),
         reserved_tokens = greatest(reserved_tokens - %(tokens)s, 0),
         reserved_calls = greatest(reserved_calls - 1, 0),
         calls_in_flight = array_remove(calls_in_flight, %(call)s),
         unconfirmed_usd = unconfirmed_usd + %(usd)s,
         unconfirmed_tokens = unconfirmed_tokens + %(tokens)s,
         unconfirmed_calls = unconfirmed_calls + 1,
         unpriced_calls = unpriced_calls + (price is not distinct from '"none"'::jsonb)::int
   where id = %(run_id)s
     and lease = %(lease)s
     and state = 'running'
     and %(call)s = any(calls_in_flight)
  returning batch_id),
counted as (
  update batches
     set unconfirmed_usd = unconfirmed_usd + %(usd)s,
         unconfirmed_tokens = unconfirmed_tokens + %(tokens)s
    from fence
   where batches.id = fence.batch_id),
spent_today as (
  insert into spending (day, shard, usd)
  select (clock_timestamp() at time zone 'utc')::date, %(shard)s, %(usd)s
    from fence
   where %(usd)s > 0
      on conflict (day, shard) do update set usd = spending.usd + excluded.usd)
select 1 as is_fenced
  from fence;
