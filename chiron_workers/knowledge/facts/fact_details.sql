-- fact
select id::text as id, subject_id, content, topic_path, status, confidence, claimed_confidence,
       superseded_by::text as superseded_by, run_id, created_at, contradictions
  from facts
 where id = %(fact_id)s;

-- assertions
-- With what was known of the source when it gave that text.
select a.id::text as id, a.content, a.quote, a.quote_state, a.quote_start, a.quote_end, a.source_url,
       coalesce(f.title, '') as source_title, coalesce(f.author, '') as source_author, a.source_score,
       a.claimed_score, a.source_kind, a.claimed_confidence, a.snapshot_hash, f.published_at, f.fetched_at,
       coalesce(f.licence, '') as licence, f.left_out,
       a.run_id, a.created_at, a.context, a.verdict, a.verdict_reason, a.verdict_by, a.shown_ground as ground,
       coalesce(a.observed_at, f.fetched_at) as observed_at, a.valid_from, a.valid_until,
       coalesce((select words from changed_contexts where assertion_id = a.id and a.shown_ground = 'context changed'), '')
         as context_change
  from assertions a
  left join lateral (
    select title, author, published_at, licence, fetched_at, left_out
      from fetches
     where hash = a.snapshot_hash
       and url = a.source_url
     order by fetched_at
     limit 1
  ) f on true
 where a.fact_id = %(fact_id)s
 order by a.id;

-- related
select o.id::text as fact_id, r.relation, o.content, o.source_url, o.status, o.confidence, r.reason, r.decided_by
  from (
    select other_id as id, relation, reason, decided_by, created_at
      from fact_links
     where fact_id = %(fact_id)s
    union all
    select fact_id,
           case relation when 'supports' then 'supported by' when 'qualifies' then 'qualified by' else relation end,
           reason, decided_by, created_at
      from fact_links
     where other_id = %(fact_id)s
  ) r
  join facts o using (id)
 order by r.relation, r.created_at, o.id;

-- changes
select confidence, status, reason, at
  from fact_changes
 where fact_id = %(fact_id)s
 order by id;
