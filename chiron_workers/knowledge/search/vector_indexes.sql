-- lock
select pg_try_advisory_lock(7201850) as held;

-- usable
-- What a restored backup says of indexes that it did not bring does not count.
select i.subject_id, i.facts, i.lists, i.probes, i.recall
  from vector_indexes i
  join embedding_spaces s on s.id = i.space_id
  join pg_class c on c.relname = i.name and c.relnamespace = current_schema()::regnamespace
  join pg_index x on x.indexrelid = c.oid and x.indisvalid
 where s.model = %(model)s
   and s.hash = %(hash)s
   and s.dimensions = %(dimensions)s
   and i.subject_id is not distinct from %(subject_id)s::text

-- left_over
-- Indexes of these tables that no row speaks of: half built, replaced, or of a subject that is gone.
select c.relname as name
  from embedding_spaces s
  join pg_class c on c.relkind = 'i' and starts_with(c.relname, s.table_name || '_near_')
                 and c.relnamespace = current_schema()::regnamespace
  join pg_index x on x.indexrelid = c.oid
 where s.model = %(model)s
   and s.hash = %(hash)s
   and s.dimensions = %(dimensions)s
   and (not x.indisvalid or not exists (select from vector_indexes i where i.name = c.relname));

-- due
with space as (
  select s.id, s.table_name, c.reltuples
    from embedding_spaces s
    join pg_class c on c.relname = s.table_name and c.relnamespace = current_schema()::regnamespace
   where s.model = %(model)s
     and s.hash = %(hash)s
     and s.dimensions = %(dimensions)s
), size as (
  select null as subject_id, reltuples as facts
    from space
  union all
  select value, share * reltuples
    from space
    join pg_stats t on t.schemaname = current_schema() and t.tablename = space.table_name and t.attname = 'subject_id'
    cross join unnest(t.most_common_vals::text::text[], t.most_common_freqs) as common (value, share)
)
select space.table_name, size.subject_id
  from size
  cross join space
 where size.facts >= %(facts_min)s
   and (size.subject_id is null or exists (select from subjects where id = size.subject_id))
   and not exists (
     select
       from vector_indexes i
       left join pg_class c on c.relname = i.name and c.relnamespace = current_schema()::regnamespace
      where i.space_id = space.id
        and i.subject_id is not distinct from size.subject_id
        and size.facts < 2 * greatest(i.facts, %(facts_min)s)
        and (c.oid is not null or i.probes * %(worth_probing)s > i.lists)
   )
 order by size.facts;

-- of_subject
subject_id = {subject_id}

-- only
where {scope}

-- count
select count(*)::int as facts
  from {table}
 where {scope};

-- raise_memory
set maintenance_work_mem = '512MB';

-- create
create index concurrently {index} on {table} using ivfflat (embedding halfvec_cosine_ops)
    with (lists = {lists}) {only};

-- drop
drop index concurrently if exists {index};

-- sample
-- The same ones each time, in no order that means anything.
select v.fact_id as query_id, v.embedding::text as vector
  from (
    select fact_id
      from {table}
     where {scope}
       and status = any(%(statuses)s)
     order by md5(fact_id::text)
     limit %(limit)s
  ) as chosen
  join {table} v using (fact_id);

-- farthest_exactly
-- The distance of the farthest of the nearest.
select max(distance) as distance
  from (select (embedding <=> %(vector)s::halfvec) + 0 as distance from {table}
         where {scope}
           and status = any(%(statuses)s)
           and fact_id <> %(query_id)s
         order by (embedding <=> %(vector)s::halfvec) + 0
         limit %(limit)s) as nearest;

-- plan_with
select set_config(name, value, true)
  from unnest(%(names)s::text[], %(values)s::text[]) as given (name, value);

-- hits
select count(*) as hits
  from (select embedding <=> %(vector)s::halfvec as distance from {table}
         where {scope}
           and status = any(%(statuses)s)
           and fact_id <> %(query_id)s
         order by embedding <=> %(vector)s::halfvec
         limit %(limit)s) as nearest
 where distance <= %(distance)s;

-- record
with earlier as (
  select i.name
    from vector_indexes i
    join embedding_spaces s on s.id = i.space_id
   where s.model = %(model)s
     and s.hash = %(hash)s
     and s.dimensions = %(dimensions)s
     and i.subject_id is not distinct from %(subject_id)s::text
), kept as (
  insert into vector_indexes (name, space_id, subject_id, facts, lists, probes, recall)
  select %(name)s, id, %(subject_id)s, %(facts)s, %(lists)s, %(probes)s, %(recall)s
    from embedding_spaces
   where model = %(model)s
     and hash = %(hash)s
     and dimensions = %(dimensions)s
  on conflict on constraint vector_indexes_one_of_each do update
     set name = excluded.name, facts = excluded.facts, lists = excluded.lists, probes = excluded.probes,
         recall = excluded.recall, built_at = now()
)
select name
  from earlier;
