-- page
select id
  from facts
 where id > %(after)s
   and subject_id = %(subject_id)s
 order by id
 limit %(limit)s;

-- unverified
select id, source_url, quote
  from assertions
 where fact_id = any(%(fact_ids)s::uuid[])
   and quote is not null
   and quote_state = 'unverified';

-- verify_fact
update facts
   set quote = %(quote)s, quote_state = 'verified', quote_start = %(start)s, quote_end = %(end)s,
       snapshot_hash = %(hash)s, context = %(context)s
 where id = %(id)s;

-- verify_corroboration
-- Not where the same source was verified since.
update corroborations c
   set quote = %(quote)s, quote_state = 'verified', quote_start = %(start)s, quote_end = %(end)s,
       snapshot_hash = %(hash)s, context = %(context)s
 where id = %(id)s
   and not exists (
     select
       from corroborations o
      where o.fact_id = c.fact_id
        and o.source_url = c.source_url
        and o.quote_state = 'verified'
   );

-- scores
select a.id, a.source_url, a.source_score, a.claimed_score, a.source_kind, f.stated_kind
  from assertions a
  left join lateral (
    select stated_kind
      from fetches
     where hash = a.snapshot_hash
       and url = a.source_url
     order by fetched_at desc, id desc
     limit 1
  ) f on true
 where a.fact_id = any(%(fact_ids)s::uuid[]);

-- contents
select id::text as fact_id, content
  from facts
 where id = any(%(fact_ids)s::uuid[])
 order by id;

-- rescore_facts
update facts f
   set claimed_score = w.claimed_score, source_kind = w.source_kind, source_score = w.source_score
  from unnest(%(id)s::uuid[], %(claimed_score)s::real[], %(source_kind)s::text[], %(source_score)s::real[])
       as w (id, claimed_score, source_kind, source_score)
 where f.id = w.id;

-- rescore_corroborations
update corroborations c
   set claimed_score = w.claimed_score, source_kind = w.source_kind, source_score = w.source_score
  from unnest(%(id)s::uuid[], %(claimed_score)s::real[], %(source_kind)s::text[], %(source_score)s::real[])
       as w (id, claimed_score, source_kind, source_score)
 where c.id = w.id;
