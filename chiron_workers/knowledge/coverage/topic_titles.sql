-- titles
select id::text as node_id, title, parent_id::text as parent_id
  from nodes
 where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s])
   and removed_at is null
 order by depth, id
 limit %(limit)s;

-- aliases
-- A merged node's title is another name of the node it was merged into.
select merged_into::text as node_id, title, parent_id::text as parent_id
  from nodes
 where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s])
   and merged_into is not null
 order by id
 limit %(limit)s;

-- paths
select topic_path, count(*) as facts
  from facts
 where subject_id = %(subject_id)s
   and status = any(%(statuses)s)
 group by topic_path
 order by count(*) desc, topic_path
 limit %(limit)s;
