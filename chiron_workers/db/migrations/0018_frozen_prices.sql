-- A run keeps the price that its model had where it was submitted, and counts the replies whose cost nobody knows. Workers of
-- the version before write neither: their rows have no price, and are billed by what the worker that plays them knows.

alter table runs
  add column price jsonb,
  add column unpriced_calls int not null default 0;

-- What such replies had cost was counted as nothing.
update runs
   set unpriced_calls = replies.n
  from (select e.run_id, count(*) as n
          from runs r
          join entries e on e.run_id = r.id
         where r.model <> 'offline'
           and r.spent_usd = 0
           and r.spent_tokens > 0
           and e.kind = 'reply'
           and e.cost_usd is null
         group by e.run_id) replies
 where runs.id = replies.run_id;
