-- set_of_run
update runs
   set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd),
       budget_tokens = coalesce(%(budget_tokens)s::bigint, budget_tokens)
 where id = %(target)s
returning budget_usd, spent_usd + unconfirmed_usd as spent_usd,
          budget_tokens, spent_tokens + unconfirmed_tokens as spent_tokens;

-- set_of_batch
update batches
   set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd),
       budget_tokens = coalesce(%(budget_tokens)s::bigint, budget_tokens)
 where id = %(target)s;

-- of_batch
select b.budget_usd, c.spent_usd + c.unconfirmed_usd as spent_usd,
       b.budget_tokens, c.spent_tokens + c.unconfirmed_tokens as spent_tokens
  from batches b
  join batch_costs c on c.batch_id = b.id
 where b.id = %(batch_id)s;

-- models
select distinct model, price
  from runs
 where batch_id = %(target)s
    or id = %(target)s
 order by model;

-- without_price
select model, bool_or(coalesce(error ->> 'kind' = 'price', false)) as waits
  from runs
 where (batch_id = %(target)s or id = %(target)s)
   and price is null
 group by model
 order by model;

-- freeze_price
-- Of what no worker holds: a holder goes by what it has read. What has no price has no budget in USD of its own.
update runs
   set price = %(price)s::jsonb,
       budget_usd = case when %(unbound)s then null else budget_usd end
 where (batch_id = %(target)s or id = %(target)s)
   and model = %(model)s
   and price is null
   and state <> 'running';
