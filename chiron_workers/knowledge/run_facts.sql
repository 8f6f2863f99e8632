-- met
-- The facts that a run met, those that it stored or confirmed first, with the addresses of their sources.
with met as (
  select fact_id, bool_or(how in ('stored', 'confirmed')) as is_own, max(at) as at
    from run_facts
   where run_id = %(run_id)s
   group by fact_id
   order by is_own desc, at desc, fact_id
   limit %(limit)s
)
select f.id::text as fact_id, f.content,
       array(select source_url from assertions where assertions.fact_id = f.id) as addresses
  from met
  join facts f on f.id = met.fact_id
 where f.status <> 'withdrawn';

-- unrecorded
-- Ended runs whose remaining rows were not searched for facts yet.
select id, exists (select from duty_failures f where f.duty = 'fact_records' and f.item = runs.id::text) as has_failed
  from runs
 where recorded_leases between 0 and lease - 1
   and state in ('completed', 'failed', 'cancelled')
   and not exists (select
                     from duty_failures f
                    where f.duty = 'fact_records'
                      and f.item = runs.id::text
                      and f.retry_at > now())
 order by id desc
 limit %(limit)s;

-- lock
-- The lock keeps it from being retried. A run that another worker records is skipped.
select id, answer, pruned_at is null as has_journal
  from runs
 where id = %(run_id)s
   and recorded_leases between 0 and lease - 1
   and state in ('completed', 'failed', 'cancelled')
   for update skip locked;

-- results
-- Results of the tools that find and store facts, a part at a time.
select n, call_id, name, coalesce(whole, body) as text
  from tool_results
 where run_id = %(run_id)s
   and (n, call_id) > (%(after_n)s, %(after_call_id)s)
   and name in ('vector_search', 'knowledge_base', 'store_knowledge')
   and not is_error
 order by n, call_id
 limit %(limit)s;

-- add
-- Facts that were deleted since have no rows.
insert into run_facts (run_id, fact_id, how)
select %(run_id)s, f.id, %(how)s
  from facts f
 where f.id = any(%(fact_ids)s::uuid[])
   and (%(how)s <> 'confirmed' or f.run_id is distinct from %(run_id)s)
    on conflict do nothing;

-- record
-- Replace the facts that a run cites, and mark its facts as recorded.
with {{cited_facts}},
recorded as (
  update runs
     set recorded_leases = case when pruned_at is null then lease else -1 end,
         cited = {{known_count}}
   where id = %(run_id)s
     and recorded_leases between 0 and lease - 1
     and state in ('completed', 'failed', 'cancelled')
     and answer is not distinct from %(answer)s
  returning id),
forgotten as (
  delete from run_facts
   using recorded
   where run_id = recorded.id
     and how = 'cited'
     and fact_id not in (select id from cited_facts)),
cited as (
  insert into run_facts (run_id, fact_id, how)
  select recorded.id, f.id, 'cited'
    from recorded, cited_facts c
    join facts f on f.id = c.id
      on conflict do nothing)
select id
  from recorded;
