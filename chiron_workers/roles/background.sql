-- background
-- Counted only where a goal was saved: other runs are told nothing of it.
select title, purpose_statement, target_depth,
       (select count(*) from facts
         where subject_id = subjects.id and status in ('accepted', 'disputed'))::int as facts,
       (select count(*) from nodes
         where (subject_id = subjects.id or shared_with_subjects @> array[subjects.id]) and removed_at is null)::int as nodes
  from subjects
 where id = %(subject_id)s
   and purpose_statement is not null;
