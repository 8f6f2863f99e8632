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
select budget_usd, spent_usd + unconfirmed_usd as spent_usd,
       budget_tokens, spent_tokens + unconfirmed_tokens as spent_tokens
  from batches
 where id = %(batch_id)s;

-- models
select distinct model
  from runs
 where batch_id = %(target)s
    or id = %(target)s
 order by model;
