-- present
select id as subject_id
  from subjects
 where id = any(%(subject_ids)s);

-- names
select id as subject_id
  from subjects
 order by id
 limit %(limit)s;

-- documents
select subject_id, count(*) as documents
  from documents
 where subject_id = any(%(subject_ids)s)
 group by subject_id;

-- columns
r.topic as earlier_topic, r.id as run_id, r.number as run_number, r.batch_id, b.name as batch, r.finished_at

-- answered
-- By place of a topic the latest runs whose topic may read alike: few share a key that do not.
select asked.n::int as n, latest.*
  from unnest(%(subject_ids)s::text[], %(topics)s::text[], %(roles)s::text[], %(contexts)s::text[])
       with ordinality as asked (subject_id, topic, role, context, n)
 cross join lateral (
   select {{columns}}
     from runs r
     join batches b on b.id = r.batch_id
    where r.subject_id = asked.subject_id
      and topic_key(r.topic) = topic_key(asked.topic)
      and r.state = 'completed'
      and r.role = asked.role
      and r.context is not distinct from asked.context
      and r.finished_at is not null
      and (%(owner)s::text is null or b.owner = %(owner)s)
    order by r.id desc
    limit 5) latest
 order by asked.n, latest.run_id desc;

-- latest
select {{columns}}, r.subject_id, r.role
  from runs r
  join batches b on b.id = r.batch_id
 where r.subject_id = any(%(subject_ids)s)
   and r.state = 'completed'
   and r.scope is null
   and r.finished_at is not null
   and length(r.topic) <= %(chars_max)s
   and (%(owner)s::text is null or b.owner = %(owner)s)
 order by r.id desc
 limit %(limit)s;

-- stems
select tsvector_to_array(to_tsvector(language::regconfig, words)) as stems
  from unnest(%(languages)s::text[], %(words)s::text[]) with ordinality as texts (language, words, n)
 order by n;
