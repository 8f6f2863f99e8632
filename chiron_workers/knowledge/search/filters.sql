-- accepted
f.status = any(%(statuses)s::text[])

-- confident
and f.confidence >= %(min_confidence)s::real

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
-- The domain or one below it, or a document of one's own that is called so; `right` and no pattern, in which some letters would mean something.
and (right('.' || lower(split_part(split_part(split_part(f.source_url, '://', 2), '/', 1), ':', 1)),
length(%(source)s) + 1)
       = '.' || %(source)s
     or exists (select from corroborations c
                 where c.fact_id = f.id
                   and right('.' || lower(split_part(split_part(split_part(c.source_url, '://', 2), '/', 1), ':', 1)),
                             length(%(source)s) + 1) = '.' || %(source)s)
     or f.source_url like 'corpus://%%' and right(lower(f.source_url), length(%(source)s) + 1) = '/' || %(source)s)

-- since
and f.created_at >= %(since)s

-- until
and f.created_at < %(until)s

-- validated_since
and f.validated_at >= %(validated_since)s

-- of_nodes
-- The topic paths that name the nodes were told apart before; see topic_titles.py.
and (f.subject_id, f.topic_path) in (select * from unnest(%(node_subjects)s::text[], %(node_paths)s::text[]))

-- around
-- A node's subjects, and its id with those of its neighbours if they are wanted; a merged one is the one that remains.
with node as (
  select *
    from nodes
   where id = (select coalesce(merged_into, id) from nodes where id = %(node_id)s)
)
select node.title, array[node.subject_id] || node.shared_with_subjects as subjects,
       array(select n.id::text from nodes n
              where n.removed_at is null
                and (n.id = node.id
                     or %(wide)s and (n.id = node.parent_id or n.parent_id = node.id or n.parent_id = node.parent_id
                                      or n.id = any(node.prerequisites)))) as wanted
  from node;
