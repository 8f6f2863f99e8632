-- database_state
select to_regclass('schema_migrations') is not null as is_ours,
       current_schema() as schema,
       current_setting('server_version_num')::int / 10000 as major;

-- strangers
-- What a person has put beside Chiron's own. What belongs to an extension comes back with the extension.
with system (namespace) as (
  select oid from pg_namespace where nspname = 'information_schema' or nspname like 'pg\_%%'
), relations as (
  select case relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind, oid, relnamespace,
         relname
    from pg_class
   where relkind in ('r', 'p', 'f', 'v', 'm')
     and relnamespace not in (select namespace from system)
     and not (relnamespace = current_schema()::regnamespace
              and (relname = any(%(relations)s::text[])
                   or relname ~ ('^(' || array_to_string(%(patterns)s::text[], '|') || ')$')))
     and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
), routines as (
  select 'function' as kind, oid, pronamespace, proname
    from pg_proc
   where pronamespace not in (select namespace from system)
     and not (pronamespace = current_schema()::regnamespace and proname = any(%(functions)s::text[]))
     and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
)
select kind || ' ' || nspname || '.' || name as name
  from (select * from relations union all select * from routines) as strangers (kind, oid, namespace, name)
  join pg_namespace on pg_namespace.oid = strangers.namespace
 order by 1
 limit %(limit)s;
