-- of_a_subject
-- Answers are bounded by the newest of each node, as where the mastery of one node is computed.
with node as (
  select id, depth, title
    from nodes
   where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s::text])
     and removed_at is null
   order by depth, id
   limit %(limit)s
), newest as (
  select a.node_id, a.id, a.correct, a.at, row_number() over (partition by a.node_id order by a.id desc) as n
    from assessments a
   where a.learner = %(learner)s
     and a.node_id = any(array(select id from node))
     and {{is_settled}}
), answered as (
  select node_id, count(*) as attempts, count(*) filter (where correct) as right_ones, max(at) as last_answered_at,
         array_agg(correct order by id) as answers
    from newest
   where n <= 10000
   group by node_id
), asked as (
  select q.node_id, count(*) as questions, count(*) filter (where c.due_at <= now()) as due, min(c.due_at) as next_review
    from questions q
    left join review_cards c on c.learner = %(learner)s and c.node_id = q.node_id and c.question_hash = q.question_hash
   where q.node_id = any(array(select id from node))
     and {{stands}}
   group by q.node_id
)
select n.id::text as node_id, n.title, coalesce(a.attempts, 0) as attempts, coalesce(a.right_ones, 0) as right_ones,
       a.last_answered_at, coalesce(a.answers, '{}') as answers, coalesce(q.questions, 0) as questions,
       coalesce(q.due, 0) as due, q.next_review
  from node n
  left join answered a on a.node_id = n.id
  left join asked q on q.node_id = n.id
 order by n.depth, n.id;
