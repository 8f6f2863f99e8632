-- accepted
f.status = any(%(statuses)s) and f.confidence >= %(min_confidence)s::real

-- of_subject
and f.subject_id = %(subject_id)s

-- under_topic
and (lower(f.topic_path) = %(topic)s or starts_with(lower(f.topic_path), %(topic)s || '/'))

-- from_address
-- The address itself or what lies below it, of the fact's own source or of one that says the same.
and (f.source_url = %(source)s or starts_with(f.source_url, rtrim(%(source)s, '/') || '/')
     or exists (select from corroborations c
                 where c.fact_id = f.id
                   and (c.source_url = %(source)s or starts_with(c.source_url, rtrim(%(source)s, '/') || '/'))))

-- from_domain
-- The domain or one below it; `right` and no pattern, in which some letters would mean something.
and (right('.' || lower(split_part(split_part(split_part(f.source_url, '://', 2), '/', 1), ':', 1)), length(%(source)s) + 1)
       = '.' || %(source)s
     or exists (select from corroborations c
                 where c.fact_id = f.id
                   and right('.' || lower(split_part(split_part(split_part(c.source_url, '://', 2), '/', 1), ':', 1)),
                             length(%(source)s) + 1) = '.' || %(source)s))

-- since
and f.created_at >= %(since)s

-- until
and f.created_at < %(until)s

-- validated_since
and f.validated_at >= %(validated_since)s

-- of_nodes
-- A fact belongs to the node that the deepest step of its topic path names.
and f.subject_id = any(%(node_subjects)s)
and string_to_array(lower(f.topic_path), '/') && %(node_titles)s
and (select step from unnest(string_to_array(lower(f.topic_path), '/')) with ordinality as s (step, n)
      where step = any(%(every_title)s)
      order by n desc limit 1) = any(%(node_titles)s)

-- around
-- A node's subjects, its title with those of its neighbours if they are wanted, and every title of the map: in lower case.
with node as (
  select * from nodes where id = %(node_id)s
)
select node.title, array[node.subject_id] || node.shared_with_subjects as subjects,
       array(select lower(n.title) from nodes n
              where n.id = node.id
                 or %(wide)s and (n.id = node.parent_id or n.parent_id = node.id or n.parent_id = node.parent_id
                                  or n.id = any(node.prerequisites))) as wanted,
       array(select lower(n.title) from nodes n
              where n.subject_id = any(array[node.subject_id] || node.shared_with_subjects)
                 or n.shared_with_subjects && (array[node.subject_id] || node.shared_with_subjects)) as titles
  from node;
