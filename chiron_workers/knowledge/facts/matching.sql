-- now
select clock_timestamp() as at;

-- statuses
select id::text as id, status
  from facts
 where id = any(%(fact_ids)s::uuid[]);

-- withdrawn
with nearest as materialized (
  select fact_id, (embedding <=> %(embedding)s::halfvec) + 0 as distance
    from {table}
   where subject_id = %(subject_id)s
     and status = 'withdrawn'
   order by (embedding <=> %(embedding)s::halfvec) + 0, fact_id
   limit %(limit)s
)
select f.id::text as id, f.content, f.status, 1 - n.distance as cosine
  from nearest n
  join facts f on f.id = n.fact_id
 where 1 - n.distance >= %(cosine_min)s
 order by n.distance, n.fact_id;

-- newest
-- A transaction's rows carry the time it began at; none of ours lasts for a minute.
select f.id::text as id, f.content, f.status, 1 - (v.embedding <=> %(embedding)s::halfvec) as cosine
  from facts f
  join {table} v on v.fact_id = f.id
 where f.subject_id = %(subject_id)s
   and f.created_at > %(since)s::timestamptz - interval '1 minute'
   and 1 - (v.embedding <=> %(embedding)s::halfvec) >= %(cosine_min)s
 order by 1 - (v.embedding <=> %(embedding)s::halfvec) desc, f.id
 limit %(limit)s;

-- in_same_text
-- Of these facts those that one and the same text bears out, word for word.
select distinct fact_id::text as id
  from assertions
 where fact_id = any(%(fact_ids)s::uuid[])
   and snapshot_hash = %(snapshot_hash)s
   and quote_state = 'verified';
