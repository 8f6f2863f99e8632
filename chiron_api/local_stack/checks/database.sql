-- pgvector
select default_version, installed_version
  from pg_available_extensions
 where name = 'vector';

-- space
select table_name
  from embedding_spaces
 where model = %(model)s
   and hash = %(hash)s
   and dimensions = %(dimensions)s;

-- unembedded
select count(*) as facts
  from facts f
 where f.status <> 'withdrawn'
   and {lacking};

-- lacking
not exists (select from {table} v where v.fact_id = f.id)

-- lack_all
true
