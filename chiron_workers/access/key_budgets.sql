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
select k.id as key_id,
       (select coalesce(sum(case when b.finished_at is null then greatest(b.budget_usd, c.spent_usd + c.unconfirmed_usd)
                                 else c.spent_usd + c.unconfirmed_usd end), 0)
          from batches b
          join batch_costs c on c.batch_id = b.id
         where b.key_id = k.id
           and (b.finished_at is null
                or k.budget_period = 'total'
                or b.finished_at >= {{today}} at time zone 'utc'))
       + (select coalesce(sum(s.usd), 0)
            from access_key_spending s
           where s.key_id = k.id
             and (k.budget_period = 'total' or s.day = {{today}}::date)) as usd
  from access_keys k
 where k.id = any(%(key_ids)s);

-- key_of
select key_id
  from batches
 where id = %(target)s
    or id = (select batch_id from runs where id = %(target)s);
