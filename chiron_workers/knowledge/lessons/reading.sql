-- columns
l.id, l.subject_id, s.title as subject, l.node_id, l.run_id, l.title, l.depth, l.model, l.state, l.not_known, l.created_at,
l.handed_in_at

-- by_id
select {{columns}}
  from lessons l
  join subjects s on s.id = l.subject_id
 where l.id = %(lesson_id)s;

-- of_a_subject
select {{columns}}
  from lessons l
  join subjects s on s.id = l.subject_id
 where l.subject_id = %(subject_id)s
   and (%(node_id)s::uuid is null or l.node_id = %(node_id)s)
   and l.state = any(%(states)s)
 order by coalesce(l.handed_in_at, l.created_at) desc, l.id desc
 limit %(limit)s;

-- versions
select id
  from lessons
 where subject_id = %(subject_id)s
   and node_id = %(node_id)s
   and state = 'handed_in'
 order by handed_in_at, id;

-- newest_of_nodes
select distinct on (l.node_id) {{columns}}
  from lessons l
  join subjects s on s.id = l.subject_id
 where l.subject_id = %(subject_id)s
   and l.state = 'handed_in'
 order by l.node_id, l.handed_in_at desc, l.id desc
 limit %(limit)s;

-- sentences
select s.lesson_id, s.place, s.title, s.title_verdict_by, t.text, t.fact_ids::text[] as fact_ids, t.fact_statuses, t.verdict_reason, t.verdict_by
  from lesson_sections s
  join lesson_sentences t using (lesson_id, place)
 where s.lesson_id = any(%(lesson_ids)s::uuid[])
 order by s.lesson_id, s.place, t.n;

-- successors
select id::text as fact_id, superseded_by::text as successor
  from facts
 where id = any(%(fact_ids)s::uuid[])
   and superseded_by is not null;
