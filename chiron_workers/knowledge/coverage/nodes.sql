-- subjects
-- Whose nodes are needed for these prerequisites, directly or through others.
with recursive needed (id) as (
  select id
    from unnest(%(prerequisites)s::uuid[]) as id
  union
  select further.id
    from needed
    join nodes n on n.id = needed.id
    cross join unnest(n.prerequisites) as further (id)
)
select distinct subject_id
  from needed
  join nodes using (id);

-- lock
-- One writer of a coverage map at a time, in one order for whoever locks several: of two nodes saved at once, each as the
-- other's prerequisite, the second must see the first.
select pg_advisory_xact_lock(7201844, key)
  from (select distinct hashtext(subject_id) as key
          from unnest(%(subject_ids)s::text[]) as subject_id
         order by key) as subjects;

-- referenced
select id, subject_id, title, depth,
       subject_id = %(subject_id)s or %(subject_id)s = any(shared_with_subjects) as is_usable
  from nodes
 where id = any(%(node_ids)s::uuid[])
   and removed_at is null;

-- same_title
-- The node of that title, else the last one that was removed, or merged into another.
select id, removed_at is not null and merged_into is null as is_removed, merged_into
  from nodes
 where subject_id = %(subject_id)s
   and lower(title) = lower(%(title)s)
   and coalesce(parent_id, '00000000-0000-0000-0000-000000000000')
     = coalesce(%(parent_id)s, '00000000-0000-0000-0000-000000000000'::uuid)
 order by removed_at desc nulls first
 limit 1;

-- edges
-- Every node that these need, directly or through others, and what it needs itself.
with recursive needed (id) as (
  select id
    from unnest(%(node_ids)s::uuid[]) as id
  union
  select further.id
    from needed
    join nodes n on n.id = needed.id
    cross join unnest(n.prerequisites) as further (id)
)
select n.id, n.title, n.prerequisites
  from needed
  join nodes n using (id);

-- insert
insert into nodes (id, subject_id, title, description, parent_id, depth, is_goal_critical, prerequisites,
                   shared_with_subjects, run_id)
values (%(node_id)s, %(subject_id)s, %(title)s, %(description)s, %(parent_id)s, %(depth)s, %(is_goal_critical)s,
        coalesce(%(prerequisites)s::uuid[], '{}'), coalesce(%(shared_with_subjects)s::text[], '{}'), %(run_id)s);

-- update
update nodes set title = %(title)s, description = %(description)s, depth = %(depth)s,
       is_goal_critical = %(is_goal_critical)s, prerequisites = coalesce(%(prerequisites)s::uuid[], prerequisites),
       shared_with_subjects = coalesce(%(shared_with_subjects)s::text[], shared_with_subjects), updated_at = now(),
       removed_at = null, merged_into = null
 where id = %(node_id)s;

-- get
-- A node that was merged into another is that one.
select id::text as node_id, subject_id, title, description, parent_id::text, depth, is_goal_critical,
       prerequisites::text[], shared_with_subjects
  from nodes
 where id = (select coalesce(merged_into, id) from nodes where id = %(node_id)s)
   and removed_at is null;

-- hold
-- It waits for a merge under way, and then names the node that remains.
select coalesce(merged_into, id) as id
  from nodes
 where id = %(node_id)s
   for key share;

-- successors
-- What became of nodes that were merged, by an id or a title.
select distinct merged_into::text as node_id
  from nodes
 where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s])
   and merged_into is not null
   and (id::text = lower(%(name)s) or lower(title) = lower(%(name)s));

-- children
select id::text as node_id, title
  from nodes
 where parent_id = %(node_id)s
   and (%(subject_ids)s::text[] is null or subject_id = any(%(subject_ids)s)
        or shared_with_subjects && %(subject_ids)s)
   and removed_at is null
 order by id
 limit %(limit)s;

-- of_a_subject
select id::text as node_id, subject_id, title, description, parent_id::text, depth, is_goal_critical,
       prerequisites::text[], shared_with_subjects
  from nodes
 where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s])
   and removed_at is null
 order by depth, id
 limit %(limit)s;

-- matching
-- The nodes of some ids, and those that hold a word of the question, best first. Titles count
-- ten times as much as descriptions.
with question as (
  select string_agg(quote_literal(lexeme), ' | ')::tsquery as words
    from unnest(to_tsvector('english', %(question)s))
), node as (
  select n.id::text as node_id, n.subject_id, n.title, n.description, n.is_goal_critical, n.id,
         n.id = any(%(named)s::uuid[]) as is_named,
         ts_rank('{0.1, 0.1, 0.1, 1.0}', setweight(to_tsvector('english', n.title), 'A')
                 || to_tsvector('english', n.description), question.words) as rank
    from nodes n
    cross join question
   where (%(subject_id)s::text is null or n.subject_id = %(subject_id)s
          or n.shared_with_subjects @> array[%(subject_id)s])
     and n.removed_at is null
)
select node_id, subject_id, title, description, is_goal_critical
  from node
 where is_named or rank > 0
 order by is_named desc, rank desc nulls last, id
 limit %(limit)s;

-- share
update nodes set shared_with_subjects = array(select distinct unnest(shared_with_subjects || %(subject_id)s) order by 1),
       updated_at = now()
 where id = %(node_id)s
   and subject_id <> %(subject_id)s
   and not shared_with_subjects @> array[%(subject_id)s];
