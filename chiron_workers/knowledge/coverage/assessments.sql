-- add
insert into assessments (id, learner, node_id, question_hash, response, correct, lesson_id, run_id)
values (%(id)s, %(learner)s, %(node_id)s, %(question_hash)s, %(response)s, %(correct)s, %(lesson_id)s, %(run_id)s)
returning at;

-- is_settled
mark is distinct from 'doubtful'

-- answers
-- Bounded by the newest: what was answered ten thousand answers ago no longer moves the figure.
select count(*) as attempts, count(*) filter (where correct) as right_ones, max(at) as last_answered_at,
       coalesce(array_agg(correct order by id), '{}') as answers
  from (select id, correct, at from assessments where learner = %(learner)s and node_id = %(node_id)s and {{is_settled}}
         order by id desc
         limit 10000) newest;

-- answers_by_node
select node_id::text as node_id, array_agg(correct order by id) as answers
  from (select node_id, id, correct, row_number() over (partition by node_id order by id desc) as n
          from assessments
         where learner = %(learner)s
           and node_id = any(%(node_ids)s::uuid[])
           and {{is_settled}}) newest
 where n <= %(limit)s
 group by node_id;

-- questions
select question_hash, count(*) as attempts, count(*) filter (where correct) as correct,
       (array_agg(correct order by id desc))[1] as last_correct
  from assessments
 where learner = %(learner)s
   and node_id = %(node_id)s
   and {{is_settled}}
 group by question_hash
 order by (array_agg(id order by id desc))[1] desc
 limit %(limit)s;

-- history
select a.at, a.question_hash, q.text as question, a.response,
       coalesce(a.mark, case when a.correct then 'right' else 'wrong' end) as mark, a.marked_by, a.reason
  from assessments a
  left join questions q on q.id = a.question_id
 where a.learner = %(learner)s
   and a.node_id = %(node_id)s
 order by a.id desc
 limit %(limit)s;
