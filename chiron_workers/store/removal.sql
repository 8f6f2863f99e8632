-- batch_of
select id as batch_id from batches where id = %(id)s
union all
select batch_id from runs where id = %(id)s;

-- open
select state, count(*) as runs from runs
 where (id = %(id)s or batch_id = %(id)s) and state <> all(%(final)s) group by state order by state;

-- piece
-- Locked in the order of all locks, so that nobody revives one of them meanwhile.
select id, state = any(%(final)s) as is_final from runs
 where id = %(id)s or batch_id = %(id)s order by id limit %(limit)s for update;

-- entries
delete from entries where run_id = any(%(run_ids)s);

-- tool_results
delete from tool_results where run_id = any(%(run_ids)s);

-- events
delete from events where run_id = any(%(run_ids)s);

-- facts
delete from facts where run_id = any(%(run_ids)s);

-- runs
-- What else belongs to a run goes with it, and what it found no longer names it.
delete from runs where id = any(%(run_ids)s);

-- count_down
-- What the runs have cost stays counted against the budget, since it was spent.
update batches set run_count = run_count - %(runs)s where id = %(batch_id)s;

-- drop_empty
delete from batches where id = %(batch_id)s and not exists (select from runs where batch_id = %(batch_id)s);
