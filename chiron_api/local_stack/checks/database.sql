-- pgvector
select version() as server, default_version, installed_version
  from (values ('vector')) as extension (name)
  left join pg_available_extensions using (name);

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
