-- titles
-- A merged node's title is another name of the node it was merged into.
select coalesce(merged_into, id)::text as node_id, title, parent_id::text as parent_id, merged_into is not null as is_alias
  from nodes
 where (subject_id = %(subject_id)s or shared_with_subjects @> array[%(subject_id)s])
   and (removed_at is null or merged_into is not null)
 order by depth, id
 limit %(limit)s;

-- paths
select topic_path, count(*) as facts
  from facts
 where subject_id = %(subject_id)s
   and status = any(%(statuses)s)
 group by topic_path
 order by count(*) desc, topic_path
 limit %(limit)s;
