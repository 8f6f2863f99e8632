-- lock
-- Whoever reserves money of a key waits here for the others, so that no two reserve the same.
select name, budget_usd, budget_period, revoked_at is not null or coalesce(expires_at <= now(), false) as is_over
  from access_keys
 where id = %(key_id)s
   for update;

-- today
date_trunc('day', now() at time zone 'utc')

-- committed
-- An open batch counts with its whole budget, on each day on which it is open; one that has ended with what it has cost,
-- on the day on which it ended.
select coalesce(sum(case when finished_at is null then greatest(budget_usd, spent_usd + unconfirmed_usd)
                         else spent_usd + unconfirmed_usd end), 0)
       + (select coalesce(sum(usd), 0)
            from access_key_spending
           where key_id = %(key_id)s
             and (%(period)s = 'total' or day = {{today}}::date)) as usd
  from batches
 where key_id = %(key_id)s
   and (finished_at is null
        or %(period)s = 'total'
        or finished_at >= {{today}} at time zone 'utc');

-- key_of
select key_id
  from batches
 where id = %(target)s
    or id = (select batch_id from runs where id = %(target)s);
