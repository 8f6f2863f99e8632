-- nearest
-- `+ 0` keeps the planner from an approximate index, whatever index somebody adds: filter first, then rank
-- exactly what is left. Recall is 1.0.
with nearest as materialized (
  select fact_id, (embedding <=> %(query)s::halfvec) + 0 as distance
    from {table}
   where {scope} and status = any(%(statuses)s) and confidence >= %(min_confidence)s::real
   order by (embedding <=> %(query)s::halfvec) + 0, fact_id
   limit %(limit)s
)
select f.id::text as id, f.subject_id, f.content, f.quote, f.source_url, f.source_score, f.topic_path,
       f.confidence, f.status, round((1 - n.distance)::numeric, 6)::float8 as score
  from nearest n join facts f on f.id = n.fact_id
 order by n.distance, n.fact_id;

-- in_a_subject
subject_id = %(subject_id)s

-- in_all
true

-- unembedded
select count(*) as facts from facts f
 where {scope} and f.status in ('accepted', 'disputed')
   and not exists (select from {table} v where v.fact_id = f.id);

-- accepted
select count(*) as facts from facts where {scope} and status in ('accepted', 'disputed');

-- background
-- What is known of facts beside their words: when they were validated, what contradicts them, and the title of the page
-- they rest on as it was last fetched.
select f.id::text as id, f.validated_at, f.contradictions,
       (select title from fetches where url = f.source_url order by fetched_at desc, id desc limit 1) as source_title
  from facts f where f.id = any(%(fact_ids)s::uuid[]);
