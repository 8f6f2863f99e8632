-- cited_facts
-- Facts that a run cites: those that its answer was matched with, those of the cells of its rows, and what was cited before where it has
-- no new answer.
cited_facts as (
  select fact_id::uuid as id
    from string_to_table(%(cited_ids)s, ',') as fact_id
  union
  select unnest(fact_ids)
    from answer_cells
   where run_id = %(run_id)s
  union
  select fact_id
    from run_facts
   where run_id = %(run_id)s
     and how = 'cited'
     and not %(is_answered)s)

-- known_count
-- How many of them it neither stored nor confirmed.
(select count(*)
   from cited_facts
  where not exists (select
                      from run_facts
                     where run_id = %(run_id)s
                       and fact_id = cited_facts.id
                       and how in ('stored', 'confirmed')))
