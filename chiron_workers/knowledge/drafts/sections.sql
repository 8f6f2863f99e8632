-- lock
-- Calls of one reply may write the same section.
select pg_advisory_xact_lock(hashtextextended('draft ' || %(run_id)s::text, 0));

-- remove
delete from draft_sections
 where run_id = %(run_id)s
   and place = %(place)s;

-- add
insert into draft_sections (run_id, place, title, title_verdict_by, call_id)
values (%(run_id)s, %(place)s, %(title)s, %(title_verdict_by)s, %(call_id)s);

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
