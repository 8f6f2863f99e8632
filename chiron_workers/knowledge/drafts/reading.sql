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

-- sentences
select s.place, s.title, s.title_verdict_by, t.text, t.fact_ids::text[] as fact_ids, t.verdict_reason, t.verdict_by
  from draft_sections s
  join draft_sentences t using (run_id, place)
 where s.run_id = %(run_id)s
 order by s.place, t.n;
