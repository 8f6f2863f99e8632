-- evidence
-- The sources of accepted facts by topic path. A subject has few paths and many facts.
select f.topic_path, count(distinct f.id)::int as facts, (array_agg(distinct a.source_url))[1:200] as urls
  from facts f
  join assertions a on a.fact_id = f.id
 where f.subject_id = %(subject_id)s
   and f.status = 'accepted'
 group by f.topic_path;

-- exhausted
select id::text as node_id
  from nodes
 where id = any(%(node_ids)s::uuid[])
   and exhausted_at is not null;
