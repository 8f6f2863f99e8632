-- find_space
select table_name
  from embedding_spaces
 where model = %(model)s
   and hash = %(hash)s
   and dimensions = %(dimensions)s;

-- all_spaces
select table_name
  from embedding_spaces
 order by id;

-- lock
-- Two processes that embed for the first time would otherwise create the same table. The timeout turns a wait for
-- somebody's long transaction on facts (the foreign key locks that table) into an error.
select set_config('lock_timeout', '20s', true), pg_advisory_xact_lock(7201847);

-- add_space
insert into embedding_spaces (model, hash, dimensions) values (%(model)s, %(hash)s, %(dimensions)s)
on conflict on constraint embedding_spaces_are_unique do nothing
returning table_name;

-- create_table
-- Index-only scans need the visibility map, which vacuum keeps: hence a vacuum after every few hundred inserts.
create table if not exists {table} (
  fact_id uuid primary key references facts on delete cascade,
  subject_id text not null,
  status text not null,
  confidence real not null,
  embedding halfvec({dimensions}) not null
) with (autovacuum_vacuum_insert_threshold = 500, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.02);

-- set_storage_plain
-- A vector moved out to TOAST makes the scan three times slower, and an index cannot hold it.
alter table {table} alter column embedding set storage plain;

-- create_index
create index if not exists {index} on {table} (subject_id, status) include (confidence, fact_id, embedding);

-- add
insert into {table} (fact_id, subject_id, status, confidence, embedding)
select id, subject_id, status, confidence, %(embedding)s::halfvec
  from facts
 where id = %(fact_id)s
on conflict (fact_id) do nothing;

-- copy_from_facts
-- The status and confidence of a fact live here too, so that a search filters within the index.
update {table} v set status = f.status, confidence = f.confidence
  from facts f
 where f.id = any(%(fact_ids)s::uuid[])
   and v.fact_id = f.id;
