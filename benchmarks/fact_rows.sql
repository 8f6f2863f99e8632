-- subjects
insert into subjects (id, title) select id, id from unnest(%(ids)s::text[]) as subject (id) on conflict do nothing;

-- copy_facts
copy facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, created_at)
from stdin (format binary)

-- copy_vectors
copy {table} (fact_id, subject_id, status, confidence, embedding) from stdin (format binary)

-- indexes
-- Without those of constraints, which the copied rows are held against.
select i.indexname, i.indexdef from pg_indexes i
 where i.schemaname = current_schema() and i.tablename = any(%(tables)s::text[])
   and not exists (select from pg_constraint c where c.conname = i.indexname)
 order by i.indexname;
