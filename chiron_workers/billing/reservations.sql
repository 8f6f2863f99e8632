-- reserve
-- Where nothing but the run's own budget binds, its row alone decides. The commit does not wait for the disk: a
-- crash of Postgres may forget what calls in flight have reserved, and their replies settle all the same.
update runs r
   set {{reserved}}
  from batches b
 where {{leased}}
   and %(call)s <> all(r.calls_in_flight)
   and b.id = r.batch_id
   and b.budget_usd is null
   and b.budget_tokens is null
   and %(daily_usd)s::numeric is null
   and {{fits_run}}
returning set_config('synchronous_commit', 'off', true);

-- lock_run
select r.budget_usd, r.spent_usd + r.unconfirmed_usd as spent_usd, r.reserved_usd,
       r.budget_tokens, r.spent_tokens + r.unconfirmed_tokens as spent_tokens, r.reserved_tokens,
       %(call)s = any(r.calls_in_flight) as is_reserved,
       b.budget_usd is not null or b.budget_tokens is not null as is_bound,
       set_config('synchronous_commit', 'off', true)
  from runs r
  join batches b on b.id = r.batch_id
 where {{leased}}
   for update of r;

-- lock_batch
-- After the run, as everywhere. Whoever reserves from a batch's budget waits here for the one before, which does not wait for
-- the disk. Replies settle without this lock.
select 1
  from batches
 where id = %(batch_id)s
   and (budget_usd is not null or budget_tokens is not null)
   for no key update;

-- lock_day
-- Whoever reserves from the day's money waits here for the one before.
select pg_advisory_xact_lock(7201848);

-- balance_of_batch
-- What is spent and what is reserved, of one moment: a reply takes its cost from the one to the other.
select b.budget_usd, b.budget_tokens,
       c.spent_usd + c.unconfirmed_usd as spent_usd,
       c.spent_tokens + c.unconfirmed_tokens as spent_tokens,
       reserved.usd as reserved_usd,
       reserved.tokens as reserved_tokens
  from batches b
  join batch_costs c on c.batch_id = b.id
 cross join lateral (
   select coalesce(sum(reserved_usd), 0) as usd, coalesce(sum(reserved_tokens), 0)::bigint as tokens
     from runs
    where batch_id = b.id
      and state = 'running') reserved
 where b.id = %(batch_id)s;

-- reserve_from_all
-- As the statements above decide, one by one: with every lock that it needs taken before, in this transaction.
update runs r
   set {{reserved}}
  from batches b
 cross join lateral (
   select coalesce(sum(reserved_usd), 0) as usd, coalesce(sum(reserved_tokens), 0) as tokens
     from runs
    where batch_id = b.id
      and state = 'running'
      and (b.budget_usd is not null or b.budget_tokens is not null)) reserved
  join batch_costs c on c.batch_id = b.id
 where {{leased}}
   and %(call)s <> all(r.calls_in_flight)
   and b.id = r.batch_id
   and {{fits_run}}
   and (b.budget_usd is null
        or %(keeps_budgets)s
           and c.spent_usd + c.unconfirmed_usd + reserved.usd + %(usd)s <= b.budget_usd)
   and (b.budget_tokens is null
        or c.spent_tokens + c.unconfirmed_tokens + reserved.tokens + %(tokens)s <= b.budget_tokens)
   and (%(daily_usd)s::numeric is null
        or (select day.spent_usd + day.reserved_usd from ({{day}}) day) + %(usd)s <= %(daily_usd)s::numeric)
returning 1 as is_reserved;

-- add
update runs r
   set {{reserved}}
 where r.id = %(run_id)s;

-- is_held
select 1
  from runs r
 where {{leased}};

-- release
update runs r
   set reserved_usd = greatest(reserved_usd - %(usd)s, 0),
       reserved_tokens = greatest(reserved_tokens - %(tokens)s, 0),
       reserved_calls = greatest(reserved_calls - 1, 0),
       calls_in_flight = array_remove(calls_in_flight, %(call)s)
 where {{leased}}
   and %(call)s = any(calls_in_flight)
returning set_config('synchronous_commit', 'off', true);

-- write_off
-- A call that was cut: whoever answers may bill it, and its reply is lost.
with fence as (
  update runs r
     set reserved_usd = greatest(reserved_usd - %(usd)s, 0),
         reserved_tokens = greatest(reserved_tokens - %(tokens)s, 0),
         reserved_calls = greatest(reserved_calls - 1, 0),
         calls_in_flight = array_remove(calls_in_flight, %(call)s),
         unconfirmed_usd = unconfirmed_usd + %(usd)s,
         unconfirmed_tokens = unconfirmed_tokens + %(tokens)s,
         unconfirmed_calls = unconfirmed_calls + 1,
         unpriced_calls = unpriced_calls + (price is not distinct from '"none"'::jsonb)::int
   where {{leased}}
     and %(call)s = any(calls_in_flight)
  returning batch_id),
counted as (
  insert into batch_sums (batch_id, shard, unconfirmed_usd, unconfirmed_tokens)
  select batch_id, %(shard)s, %(usd)s, %(tokens)s
    from fence
      on conflict (batch_id, shard) do update
     set unconfirmed_usd = batch_sums.unconfirmed_usd + excluded.unconfirmed_usd,
         unconfirmed_tokens = batch_sums.unconfirmed_tokens + excluded.unconfirmed_tokens),
spent_today as (
  insert into spending (day, shard, usd)
  select (clock_timestamp() at time zone 'utc')::date, %(shard)s, %(usd)s
    from fence
   where %(usd)s > 0
      on conflict (day, shard) do update set usd = spending.usd + excluded.usd)
select 1 as is_fenced
  from fence;
