-- count_missing
select count(*) as facts
  from facts f
 where f.status <> 'withdrawn'
   and (%(subject_id)s::text is null or f.subject_id = %(subject_id)s)
   and {lacking};

-- batch
select f.id, f.content
  from facts f
 where f.status <> 'withdrawn'
   and (%(subject_id)s::text is null or f.subject_id = %(subject_id)s)
   and {lacking}
   and f.id > %(after)s
 order by f.id
 limit %(limit)s;

-- lacking
not exists (select from {table} v where v.fact_id = f.id)

-- lacking_all
true

-- add
-- The lock on the facts makes a change of confidence or status wait, so that it finds the vectors and changes them too.
with fact as (
  select id, subject_id, status, confidence
    from facts
   where id = any(%(ids)s::uuid[])
   order by id for share
)
insert into {table} (fact_id, subject_id, status, confidence, embedding)
select fact.id, fact.subject_id, fact.status, fact.confidence, given.embedding::halfvec
  from unnest(%(ids)s::uuid[], %(embeddings)s::text[]) as given (id, embedding)
  join fact using (id)
on conflict (fact_id) do nothing
returning fact_id;

-- analyze
vacuum analyze {table};

-- limit_lock_wait
-- To drop a table that refers to facts, Postgres locks those: workers must not wait behind us for long.
set local lock_timeout = '5s';

-- delete_other_spaces
with others as (
  delete from embedding_spaces
   where (model, hash, dimensions) <> (%(model)s, %(hash)s, %(dimensions)s)
  returning id, model, table_name
)
select model, table_name
  from others
 order by id;

-- drop
drop table if exists {table};
