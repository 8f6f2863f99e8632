-- newest
select f.id::text as id, f.subject_id, f.content, f.quote, f.topic_path, f.source_url, f.confidence, f.status, f.verdict
  from facts f
 where {condition}
 order by f.id desc
 limit %(limit)s
offset %(offset)s;

-- has_facts
select exists(select from facts) as is_so;
