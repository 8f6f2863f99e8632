-- lock_run
select budget_usd
  from runs
 where id = %(target)s
   for update;

-- set_of_run
update runs
   set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd),
       budget_tokens = coalesce(%(budget_tokens)s::bigint, budget_tokens)
 where id = %(target)s
returning budget_usd, spent_usd + unconfirmed_usd as spent_usd, reserved_usd,
          budget_tokens, spent_tokens + unconfirmed_tokens as spent_tokens, reserved_tokens;

-- resumable
-- Runs that a resume of a batch continues or leaves to run: open ones, and those that failed since they used all their turns.
(state in ('queued', 'running', 'paused')
      or state = 'failed' and error ->> 'kind' = 'max_turns' and pruned_at is null)

-- raise_runs
-- Raise the budgets of the runs that a resume of a batch continues. A run without a budget gets none, and none is lowered.
with poorer as (
  select id, budget_usd as before_usd
    from runs
   where batch_id = %(batch_id)s
     and {{resumable}}
     and (budget_usd < %(budget_usd)s::numeric or budget_tokens < %(budget_tokens)s::bigint)
   order by id
     for update)
update runs
   set budget_usd = case when budget_usd < %(budget_usd)s::numeric then %(budget_usd)s::numeric else budget_usd end,
       budget_tokens = case when budget_tokens < %(budget_tokens)s::bigint then %(budget_tokens)s::bigint else budget_tokens end
  from poorer
 where runs.id = poorer.id
returning runs.id, coalesce(runs.budget_usd - before_usd, 0) as growth_usd;

-- set_of_batch
update batches
   set budget_usd = coalesce(%(budget_usd)s::numeric, budget_usd),
       budget_tokens = coalesce(%(budget_tokens)s::bigint, budget_tokens)
 where id = %(target)s;

-- of_batch
-- With the batch locked: whoever reserves from its budget waits.
select b.budget_usd, c.spent_usd + c.unconfirmed_usd as spent_usd, reserved.usd as reserved_usd,
       b.budget_tokens, c.spent_tokens + c.unconfirmed_tokens as spent_tokens, reserved.tokens as reserved_tokens
  from batches b
  join batch_costs c on c.batch_id = b.id
 cross join lateral (
   select coalesce(sum(reserved_usd), 0) as usd, coalesce(sum(reserved_tokens), 0)::bigint as tokens
     from runs
    where batch_id = b.id
      and state = 'running') reserved
 where b.id = %(batch_id)s;

-- bound
-- What a batch without a budget may cost: what is spent, and what its open runs have left. Null where one of them has no budget.
select case when bool_and(r.budget_usd is not null) is not false
            then c.spent_usd + c.unconfirmed_usd + coalesce(sum(r.budget_usd - r.spent_usd - r.unconfirmed_usd), 0)
       end as usd
  from batch_costs c
  left join runs r on r.batch_id = c.batch_id and r.state in ('queued', 'running', 'paused')
 where c.batch_id = %(batch_id)s
 group by c.spent_usd, c.unconfirmed_usd;

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
