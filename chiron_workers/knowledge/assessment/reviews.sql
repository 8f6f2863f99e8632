-- lock
-- Answers to one question in two quizzes move its card one after the other, also the first ones.
select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'card', %(learner)s::text, %(node_id)s::text, %(question_hash)s::text), 0));

-- get
select state, step, stability, difficulty, due_at, last_review_at
  from review_cards
 where learner = %(learner)s
   and node_id = %(node_id)s
   and question_hash = %(question_hash)s;

-- put
insert into review_cards (learner, node_id, question_hash, state, step, stability, difficulty, due_at, last_review_at)
values (%(learner)s, %(node_id)s, %(question_hash)s, %(state)s, %(step)s, %(stability)s, %(difficulty)s, %(due_at)s,
        %(last_review_at)s)
    on conflict (learner, node_id, question_hash) do update
       set state = excluded.state, step = excluded.step, stability = excluded.stability, difficulty = excluded.difficulty,
           due_at = excluded.due_at, last_review_at = excluded.last_review_at;

-- next_review
select min(due_at) as due_at
  from review_cards
 where learner = %(learner)s
   and node_id = %(node_id)s;
