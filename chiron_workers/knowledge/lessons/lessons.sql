-- order
insert into lessons (id, subject_id, node_id, run_id, title, depth, model)
values (%(lesson_id)s, %(subject_id)s, %(node_id)s, %(run_id)s, %(title)s, %(depth)s, %(model)s)
    on conflict (run_id) do nothing;

-- of_a_run
select id
  from lessons
 where run_id = %(run_id)s;

-- prerequisites
select n.id::text as node_id, n.title, n.description,
       (select l.id::text
          from lessons l
         where l.subject_id = %(subject_id)s
           and l.node_id = n.id
           and l.state = 'handed_in'
         order by l.handed_in_at desc, l.id desc
         limit 1) as lesson_id
  from nodes n
  join unnest(%(node_ids)s::uuid[]) with ordinality as needed (id, place) on needed.id = n.id
 order by needed.place;

-- open_statements
-- How many statements of these topic paths are not sure enough to be told.
select count(*) as candidates
  from facts
 where subject_id = %(subject_id)s
   and topic_path = any(%(paths)s)
   and status = 'candidate';

-- hand_in
update lessons
   set state = 'handed_in', handed_in_at = now(), not_known = %(not_known)s, title = %(title)s
 where id = %(lesson_id)s
returning handed_in_at;

-- clear
delete from lesson_sections
 where lesson_id = %(lesson_id)s;

-- copy_sections
insert into lesson_sections (lesson_id, place, title, title_verdict_by)
select %(lesson_id)s, place, title, title_verdict_by
  from draft_sections
 where run_id = %(run_id)s;

-- copy_sentences
insert into lesson_sentences (lesson_id, place, n, text, fact_ids, fact_statuses, verdict_reason, verdict_by)
select %(lesson_id)s, place, n, text, fact_ids,
       array(select coalesce(f.status, 'withdrawn')
               from unnest(fact_ids) with ordinality as cited (id, place)
               left join facts f on f.id = cited.id
              order by cited.place),
       verdict_reason, verdict_by
  from draft_sentences
 where run_id = %(run_id)s;
