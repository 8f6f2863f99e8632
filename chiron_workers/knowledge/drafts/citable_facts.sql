-- in_scope
(f.subject_id = %(subject_id)s::text
            or exists (select
                         from run_facts m
                         join runs r on r.id = m.run_id
                        where m.fact_id = f.id
                          and m.how in ('stored', 'confirmed', 'cited')
                          and %(id)s::uuid in (r.id, r.batch_id)))

-- facts_of_scope
run as (
  select id
    from runs
   where id = %(id)s::uuid
  union
  select id
    from runs
   where batch_id = %(id)s::uuid
),
scope as (
  select m.fact_id as id
    from run_facts m
    join run on run.id = m.run_id
   where m.how in ('stored', 'confirmed', 'cited')
  union
  select id
    from facts
   where subject_id = %(subject_id)s::text
)

-- of_the_paths
(%(paths)s::text[] is null or f.topic_path = any(%(paths)s))

-- branch
-- A node of a subject's map with all that is below it; of a node that was merged into another that one.
with recursive branch (id) as (
  select coalesce(merged_into, id)
    from nodes
   where id = %(node_id)s
  union
  select n.id
    from branch
    join nodes n on n.parent_id = branch.id
   where (n.subject_id = %(subject_id)s or n.shared_with_subjects @> array[%(subject_id)s])
     and n.removed_at is null
)
select id::text as node_id
  from branch
 limit 2000;

-- branches
-- Each of some nodes of a subject's map with all that is below it.
with recursive branch (node_id, id) as (
  select id, id
    from unnest(%(node_ids)s::uuid[]) as id
  union
  select branch.node_id, n.id
    from branch
    join nodes n on n.parent_id = branch.id
   where (n.subject_id = %(subject_id)s or n.shared_with_subjects @> array[%(subject_id)s])
     and n.removed_at is null
)
select node_id::text as node_id, array_agg(id::text) as branch_ids
  from branch
 group by node_id;

-- page
with {{facts_of_scope}}
select f.id::text as id
  from facts f
  join scope using (id)
 where f.status = any(%(statuses)s)
   and {{of_the_paths}}
 order by f.confidence desc, f.id
 limit %(limit)s offset %(offset)s;

-- count
with {{facts_of_scope}}
select count(*) as facts
  from facts f
  join scope using (id)
 where f.status = any(%(statuses)s)
   and {{of_the_paths}};

-- digest
with {{facts_of_scope}}
select md5(string_agg(concat_ws(' ', f.id, f.status, f.confidence), ',' order by f.id)) as digest
  from facts f
  join scope using (id)
 where f.status = any(%(statuses)s)
   and {{of_the_paths}};

-- digests
-- As `digest`, of the topic paths of each of many nodes of a subject.
select placed.node_id, md5(string_agg(concat_ws(' ', f.id, f.status, f.confidence), ',' order by f.id)) as digest
  from unnest(%(node_ids)s::text[], %(paths)s::text[]) as placed (node_id, path)
  join facts f on f.topic_path = placed.path
 where f.subject_id = %(subject_id)s
   and f.status = any(%(statuses)s)
 group by placed.node_id;

-- by_id
select f.id::text as fact_id, f.content, f.topic_path, f.status, f.confidence::float8 as confidence,
       f.valid_from, f.valid_until,
       {{in_scope}} as is_in_scope,
       array(select o.id::text
               from (select other_id as id
                       from fact_links
                      where fact_id = f.id
                        and relation = 'contradicts'
                     union
                     select fact_id
                       from fact_links
                      where other_id = f.id
                        and relation = 'contradicts') as link
               join facts o using (id)
              where o.status = any(%(statuses)s)
              order by o.confidence desc, o.id) as opponents
  from facts f
 where f.id = any(%(fact_ids)s::uuid[]);

-- passages
select fact_id::text as fact_id, coalesce(quote, '') as quote, context, source_url, a.id::text as assertion_id
  from assertions a
 where fact_id = any(%(fact_ids)s::uuid[])
   and (quote_state = 'verified' and ground = 'stands' or a.id = fact_id)
 order by fact_id, a.id <> fact_id, a.id;
