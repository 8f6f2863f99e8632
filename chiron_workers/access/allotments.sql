-- lock_key
-- The lock keeps two concurrent acts from allotting the same money.
select name, budget_usd, budget_period, revoked_at is not null or coalesce(expires_at <= now(), false) as is_over
  from access_keys
 where id = %(key_id)s
   for update;

-- today
date_trunc('day', now() at time zone 'utc') at time zone 'utc'

-- committed
-- Allotments of open batches count every day. Spent money counts on the day when its batch ended.
select k.id as key_id,
       (select coalesce(sum(a.amount_usd), 0)
          from allotments a
         where a.key_id = k.id
           and (a.act <> 'spent'
                or k.budget_period = 'total'
                or a.at >= {{today}})) as usd
  from access_keys k
 where k.id = any(%(key_ids)s);

-- lock_batch
-- Lock runs before their batch, as everywhere, or two transactions deadlock. The lock serializes the acts on a batch, and its
-- end. The setting tells the triggers that this transaction inserts its allotments itself.
select finished_at is not null as has_ended, budget_usd, set_config('chiron.allots', 'on', true)
  from batches
 where id = %(batch_id)s
   for no key update;

-- balance
-- Read with the batch locked, so that the sum cannot change.
select b.budget_usd, c.spent_usd + c.unconfirmed_usd as spent_usd
  from batches b
  join batch_costs c on c.batch_id = b.id
 where b.id = %(batch_id)s;

-- unpriced
-- Models without a price, of runs that have not ended: a budget in USD cannot limit them.
select distinct model
  from runs
 where batch_id = %(batch_id)s
   and state in ('queued', 'running', 'paused')
   and (price is null or price = '"none"')
 order by model;

-- bind
update batches
   set budget_usd = %(budget_usd)s
 where id = %(batch_id)s;

-- insert
insert into allotments (act, owner, key_id, batch_id, run_id, amount_usd)
values (%(act)s, %(owner)s, %(key_id)s, %(batch_id)s, %(run_id)s, %(amount_usd)s);

-- insert_of_runs
insert into allotments (act, owner, key_id, batch_id, run_id, amount_usd)
select %(act)s, %(owner)s, %(key_id)s, %(batch_id)s, run_id, amount_usd
  from unnest(%(run_ids)s::uuid[], %(amounts_usd)s::numeric[]) as growth (run_id, amount_usd);

-- take_back
-- Return the latest allotments first.
with balances as (
  select *, sum(usd) over (order by id desc) - usd as later_usd
    from allotment_balances
   where batch_id = %(batch_id)s
     and run_id is not distinct from %(run_id)s)
insert into allotments (act, owner, key_id, batch_id, run_id, allotment_id, amount_usd)
select 'returned', owner, key_id, batch_id, run_id, id, -least(usd, %(amount_usd)s - later_usd)
  from balances
 where later_usd < %(amount_usd)s
 order by id desc;

-- settle_runs
-- Before runs are deleted: replace the allotments of each run by what it has spent.
select settle_allotments(g.batch_id, g.run_id, r.budget_usd, r.spent_usd + r.unconfirmed_usd, now())
  from (select distinct batch_id, run_id
          from allotment_balances
         where batch_id = %(batch_id)s
           and run_id = any(%(run_ids)s)) g
  join runs r on r.id = g.run_id;

-- budget
select name, budget_usd
  from access_keys
 where id = %(key_id)s;

-- pay
-- Searches are many, so a key has one row a day for each service. What a call reserved too much is taken off the day it was made.
insert into allotments (at, act, owner, key_id, service, amount_usd)
values (coalesce(%(at)s::timestamptz, clock_timestamp()), 'spent', %(owner)s, %(key_id)s, %(service)s, %(amount_usd)s)
    on conflict (key_id, service, ((at at time zone 'utc')::date)) where service is not null
    do update set amount_usd = allotments.amount_usd + excluded.amount_usd
returning at;
