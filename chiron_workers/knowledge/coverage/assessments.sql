-- add
insert into assessments (id, learner, node_id, question_hash, response, correct, lesson_id, run_id)
values (%(id)s, %(learner)s, %(node_id)s, %(question_hash)s, %(response)s, %(correct)s, %(lesson_id)s, %(run_id)s);

-- answers
-- Bounded by the newest: what was answered ten thousand answers ago no longer moves the figure.
select count(*) as attempts, count(*) filter (where correct) as right_ones, max(at) as last_answered_at,
       coalesce(array_agg(correct order by id), '{}') as answers
  from (select id, correct, at from assessments where learner = %(learner)s and node_id = %(node_id)s
         order by id desc
         limit 10000) newest;

-- questions
select question_hash, count(*) as attempts, count(*) filter (where correct) as correct,
       (array_agg(correct order by id desc))[1] as last_correct
  from assessments
 where learner = %(learner)s
   and node_id = %(node_id)s
 group by question_hash
 order by (array_agg(id order by id desc))[1] desc
 limit %(limit)s;
