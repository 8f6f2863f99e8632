-- insert
-- The unique index on subject, content and source makes the second of two writers wait for the first and then
-- insert nothing.
insert into facts (id, subject_id, content, quote, source_url, source_score, topic_path, confidence, status,
                   contradictions, snapshot_hash, run_id, call_id)
values (%(id)s, %(subject_id)s, %(content)s, %(quote)s, %(source_url)s, %(source_score)s, %(topic_path)s,
        %(confidence)s, %(status)s, %(contradictions)s, %(snapshot_hash)s, %(run_id)s, %(call_id)s)
on conflict (subject_id, md5(content), md5(source_url)) do nothing
returning id;

-- twin
select id::text as fact_id, status, topic_path, confidence from facts
 where subject_id = %(subject_id)s and md5(content) = md5(%(content)s) and md5(source_url) = md5(%(source_url)s);

-- raise_confidence
-- Confidence and status are all that may change, and what they were is kept. Content, quote and source stay; a fact
-- that was withdrawn stays withdrawn.
with before as (
  select id, confidence, status from facts
   where id = %(fact_id)s and status <> 'withdrawn' and confidence < %(confidence)s::real
     for update
), kept as (
  insert into fact_changes (id, fact_id, confidence, status, run_id, call_id)
  select %(change_id)s, id, confidence, status, %(run_id)s, %(call_id)s from before
)
update facts set confidence = %(confidence)s, validated_at = now(),
       status = case before.status when 'candidate' then %(status)s else before.status end
  from before where facts.id = before.id
returning facts.status, before.status as status_before;

-- known
select id::text as fact_id from facts where id = any(%(fact_ids)s::uuid[]);

-- best_of_runs
-- The most confident accepted fact of each run of a batch, in the order of the runs.
select distinct on (r.id) r.topic, f.content, f.quote, f.source_url, f.confidence
  from runs r join facts f on f.run_id = r.id
 where r.batch_id = %(batch_id)s and f.status = 'accepted'
 order by r.id, f.confidence desc, f.id
 limit %(limit)s;
