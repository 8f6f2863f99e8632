-- balance
-- Budget, money spent (unconfirmed calls included) and money reserved by calls in flight, of a batch or a run.
select 'batch' as budget,
       b.budget_usd, c.spent_usd + c.unconfirmed_usd as spent_usd, reserved.usd as reserved_usd,
       b.budget_tokens, c.spent_tokens + c.unconfirmed_tokens as spent_tokens, reserved.tokens as reserved_tokens
  from batches b
  join batch_costs c on c.batch_id = b.id
 cross join lateral (
   select coalesce(sum(reserved_usd), 0) as usd, coalesce(sum(reserved_tokens), 0)::bigint as tokens
     from runs
    where batch_id = b.id
      and state = 'running') reserved
 where b.id = %(target)s
union all
select 'run',
       budget_usd, spent_usd + unconfirmed_usd, reserved_usd,
       budget_tokens, spent_tokens + unconfirmed_tokens, reserved_tokens
  from runs
 where id = %(target)s;

-- open_kinds
-- The open runs of a batch, or one, by what decides on their cost, with the dearest call that one of them paused at.
select role, model, count(*)::int as runs, max(max_turns) as max_turns,
       (array_agg(price order by id desc))[1] as price,
       array_agg(distinct subject_id) as subject_ids,
       max((error ->> 'next')::numeric) filter (where error ->> 'unit' = 'usd') as next_usd,
       max((error ->> 'next')::bigint) filter (where error ->> 'unit' = 'tokens') as next_tokens
  from runs
 where (id = %(target)s or batch_id = %(target)s)
   and {{resumable}}
 group by role, model
 order by role, model;

-- remaining
-- What open runs have still to spend: what one like them costs, less what each has spent; of one that has spent that already a turn.
select coalesce(sum(case when state = 'failed' then kind.usd else greatest(kind.usd - spent_usd - unconfirmed_usd, kind.turn_usd) end),
                0) as usd,
       coalesce(sum(case when state = 'failed' then kind.tokens
                         else greatest(kind.tokens - spent_tokens - unconfirmed_tokens, kind.turn_tokens) end),
                0)::bigint as tokens
  from runs r
  join unnest(%(roles)s::text[], %(models)s::text[], %(usd)s::numeric[], %(turn_usd)s::numeric[],
              %(tokens)s::bigint[], %(turn_tokens)s::bigint[]) as kind (role, model, usd, turn_usd, tokens, turn_tokens)
    on kind.role = r.role
   and kind.model = r.model
 where (r.id = %(target)s or r.batch_id = %(target)s)
   and {{resumable}};

-- dearest_run
-- The most that an open run of a batch needs of its own, of those whose budgets are less: what it has spent, what it has still to
-- spend, and room for that being dear and for its next call.
select max(needs.usd) filter (where budget_usd < needs.usd) as usd,
       max(needs.tokens) filter (where budget_tokens < needs.tokens) as tokens
  from runs r
  join unnest(%(roles)s::text[], %(models)s::text[], %(usd)s::numeric[], %(turn_usd)s::numeric[], %(room_usd)s::numeric[],
              %(tokens)s::bigint[], %(turn_tokens)s::bigint[], %(room_tokens)s::bigint[])
         as kind (role, model, usd, turn_usd, room_usd, tokens, turn_tokens, room_tokens)
    on kind.role = r.role
   and kind.model = r.model
 cross join lateral (
   select greatest(kind.usd, r.spent_usd + r.unconfirmed_usd + case when state = 'failed' then kind.usd else kind.turn_usd end)
            + kind.room_usd as usd,
          greatest(kind.tokens, r.spent_tokens + r.unconfirmed_tokens + case when state = 'failed' then kind.tokens else kind.turn_tokens end)
            + kind.room_tokens as tokens) needs
 where r.batch_id = %(target)s
   and {{resumable}};

-- paused_at_budget
-- Whose budgets the paused runs of a batch, or a paused run, met: the batch's, or their own.
select distinct coalesce(error ->> 'budget', '') as budget, batch_id
  from runs
 where (id = %(target)s or batch_id = %(target)s)
   and state = 'paused'
   and error ->> 'kind' = 'budget';
