-- unmarked
a.quiz_id = %(quiz_id)s
   and a.learner = %(learner)s
   and a.mark = 'doubtful'
   and a.marked_by is null

-- left
select count(*) as answers
  from assessments a
 where {{unmarked}};

-- page
select a.id, a.node_id, q.text, q.key, a.response
  from assessments a
  join questions q on q.id = a.question_id
 where {{unmarked}}
 order by a.id
 limit %(limit)s;

-- marks
select mark, count(*) as answers
  from assessments
 where quiz_id = %(quiz_id)s
   and learner = %(learner)s
 group by mark;

-- store
update assessments a
   set mark = %(mark)s, correct = %(mark)s = 'right', reason = %(reason)s, marked_by = %(marked_by)s
 where a.id = %(id)s
   and {{unmarked}}
returning a.learner, a.node_id, a.question_hash, a.correct as is_right, a.at;
