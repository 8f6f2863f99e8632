-- lock
-- Two starts at once give one quiz.
select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'quiz', %(learner)s::text, %(subject_id)s::text, %(node_id)s::text), 0));

-- open
select id
  from quizzes
 where learner = %(learner)s
   and subject_id = %(subject_id)s
   and node_id is not distinct from %(node_id)s::uuid
   and position < cardinality(question_ids);

-- close
-- What is left of it rests on facts that no longer stand.
update quizzes
   set position = cardinality(question_ids)
 where id = %(id)s;

-- has_node
select 1 as is_there
  from nodes
 where id = (select coalesce(merged_into, id) from nodes where id = %(node_id)s)
   and (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s::text])
   and removed_at is null;

-- add
insert into quizzes (id, learner, subject_id, node_id, question_ids)
values (%(id)s, %(learner)s, %(subject_id)s, %(node_id)s, %(question_ids)s::uuid[]);

-- get
select learner, subject_id, node_id, question_ids, position, created_at
  from quizzes
 where id = %(id)s
   and learner = %(learner)s;

-- has_question
select 1 as is_there
  from quizzes
 where id = %(id)s
   and %(question_id)s::uuid = any(question_ids);

-- answers
select question_id, response, mark, reason, marked_by, at
  from assessments
 where quiz_id = %(id)s;

-- add_answer
-- The same question answered twice at the same moment has one row: the second waits for the first, and adds nothing.
insert into assessments (id, learner, node_id, question_hash, response, correct, quiz_id, question_id, mark, reason, marked_by)
values (%(id)s, %(learner)s, %(node_id)s, %(question_hash)s, %(response)s, %(mark)s = 'right', %(quiz_id)s, %(question_id)s,
        %(mark)s, %(reason)s, %(marked_by)s)
    on conflict (quiz_id, question_id) where quiz_id is not null do nothing
returning learner, node_id, question_hash, correct, at;

-- move
update quizzes
   set position = greatest(position, array_position(question_ids, %(question_id)s::uuid))
 where id = %(id)s;

-- settle
update assessments
   set mark = %(mark)s, correct = %(mark)s = 'right', reason = %(reason)s, marked_by = %(marked_by)s
 where quiz_id = %(id)s
   and question_id = %(question_id)s
   and mark = 'doubtful'
returning learner, node_id, question_hash, correct, at;

-- leave_to_learner
update assessments
   set reason = %(reason)s, marked_by = %(marked_by)s
 where quiz_id = %(id)s
   and mark = 'doubtful'
   and marked_by is null
returning question_id;
