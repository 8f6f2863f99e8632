-- columns
id, node_id, kind, text, key, statement, fact_ids, question_hash, verdict_by

-- stands
q.handed_in_at is not null
   and (select count(*)
          from facts f
         where f.id = any(q.fact_ids)
           and f.status = any(%(statuses)s)) = cardinality(q.fact_ids)

-- add
-- A question that people are asked stays; one whose facts no longer stand waits to be handed in again.
insert into questions as q (id, node_id, subject_id, kind, text, key, statement, fact_ids, question_hash, verdict_by, run_id)
values (%(id)s, %(node_id)s, %(subject_id)s, %(kind)s, %(text)s, %(key)s, %(statement)s, %(fact_ids)s::uuid[],
        %(question_hash)s, %(verdict_by)s, %(run_id)s)
    on conflict (node_id, question_hash) do update
       set run_id = excluded.run_id, kind = excluded.kind, key = excluded.key, statement = excluded.statement,
           fact_ids = excluded.fact_ids, verdict_by = excluded.verdict_by, handed_in_at = null
     where not ({{stands}});

-- by_hash
select {{columns}},
       (select count(*)
          from questions w
         where w.run_id = %(run_id)s) as written
  from questions
 where node_id = %(node_id)s
   and question_hash = %(question_hash)s;

-- of_run
select {{columns}}
  from questions
 where run_id = %(run_id)s
   and handed_in_at is null
 order by id;

-- hand_in
update questions
   set handed_in_at = now()
 where run_id = %(run_id)s
   and id = any(%(ids)s::uuid[])
   and handed_in_at is null;

-- askable
select {{columns}}
  from questions q
 where q.node_id = %(node_id)s
   and {{stands}}
 order by q.id
 limit 1000;

-- pick
select q.id
  from questions q
  join nodes n on n.id = q.node_id
  left join review_cards c on c.learner = %(learner)s and c.node_id = q.node_id and c.question_hash = q.question_hash
 where (n.subject_id = %(subject_id)s or n.shared_with_subjects @> array[%(subject_id)s::text])
   and n.removed_at is null
   and (%(node_id)s::uuid is null or q.node_id = %(node_id)s::uuid)
   and {{stands}}
 order by case when c.due_at <= now() then 0 when c.due_at is null then 1 else 2 end, c.due_at, n.depth, q.id
 limit %(limit)s;

-- by_id
select {{columns}}
  from questions
 where id = any(%(ids)s::uuid[]);

-- standing_of
select q.id
  from questions q
 where q.id = any(%(ids)s::uuid[])
   and {{stands}};

-- nodes_with_questions
select distinct q.node_id::text as node_id
  from questions q
 where q.node_id = any(%(node_ids)s::uuid[])
   and {{stands}};
