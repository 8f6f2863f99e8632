-- lock
-- Calls of one reply may write the same section.
select pg_advisory_xact_lock(hashtextextended('draft ' || %(run_id)s::text, 0));

-- remove
delete from draft_sections
 where run_id = %(run_id)s
   and place = %(place)s;

-- add
insert into draft_sections (run_id, place, title, call_id)
values (%(run_id)s, %(place)s, %(title)s, %(call_id)s);

-- add_sentence
insert into draft_sentences (run_id, place, n, text, fact_ids, verdict_reason, verdict_by)
values (%(run_id)s, %(place)s, %(n)s, %(text)s, %(fact_ids)s::uuid[], %(verdict_reason)s, %(verdict_by)s);

-- size
select (select count(*)
          from draft_sections
         where run_id = %(run_id)s) as sections,
       (select count(*)
          from draft_sentences
         where run_id = %(run_id)s) as sentences;

-- sentences
select s.place, s.title, t.text, t.fact_ids::text[] as fact_ids, t.verdict_reason, t.verdict_by
  from draft_sections s
  join draft_sentences t using (run_id, place)
 where s.run_id = %(run_id)s
 order by s.place, t.n;

-- hand_in
insert into drafts (run_id)
values (%(run_id)s)
    on conflict (run_id) do update set handed_in_at = now()
returning handed_in_at;

-- latest
select d.run_id, r.model, d.handed_in_at
  from drafts d
  join runs r on r.id = d.run_id
 where r.scope = %(scope)s
   and (%(owner)s::text is null or r.batch_id in (select id from batches where owner = %(owner)s))
 order by d.handed_in_at desc, d.run_id desc
 limit 1;

-- scope
select scope
  from runs
 where id = %(id)s
    or batch_id = %(id)s
 order by scope is null
 limit 1;
