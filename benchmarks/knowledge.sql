-- disk
select c.relname as name, c.relkind = 'r' as is_table,
       (case when c.relkind = 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end)::float8 / 1e6 as mb
  from pg_class c left join pg_index i on i.indexrelid = c.oid
 where (c.oid = any(%(tables)s::regclass[]) or i.indrelid = any(%(tables)s::regclass[]))
 order by is_table desc, mb desc;
