-- assertions
-- Every assertion that counts for or against some facts: their own and those of facts that support them, against those
-- of facts that contradict them and of what supports these. So two facts that contradict each other have the same two sides,
-- and never both prevail. What was withdrawn counts for nothing but itself. A quote that does not bear its statement out
-- counts like none, and so does one whose source says so no more; what no source says any more contradicts nothing. A
-- statement that its quote contradicts, or that it does not speak of, counts for nothing at all.
-- Where several are on one side, what tells whether they are independent of each other comes with them.
select f.id::text as fact_id, side.is_for, a.source_url, a.source_score, a.source_kind, a.quote, a.quote_start, a.quote_end,
       case when count(*) over side_of_fact > 1 then s.sketch end as sketch,
       case when count(*) over side_of_fact > 1 then s.studies end as studies,
       page.title, page.authors, page.author, page.doi, page.published_at,
       a.quote_state = 'verified' and a.verdict in ('supported', 'unchecked') and a.ground = 'stands' as is_verified,
       side.id = f.id and a.quote_state = 'verified' and a.verdict in ('supported', 'unchecked') and a.ground <> 'stands'
         as is_lost
  from unnest(%(fact_ids)s::uuid[]) as f (id)
  cross join lateral (
    select f.id, true as is_for
    union all
    select l.fact_id, true
      from fact_links l
      join facts o on o.id = l.fact_id
     where l.other_id = f.id
       and l.relation = 'supports'
       and o.status <> 'withdrawn'
    union
    select unnest(array[o.id, backing.fact_id]), false
      from fact_links l
      join facts o on o.id in (l.fact_id, l.other_id) and o.id <> f.id
      left join lateral (
        select b.fact_id
          from fact_links b
          join facts s on s.id = b.fact_id
         where b.other_id = o.id
           and b.fact_id <> f.id
           and b.relation = 'supports'
           and s.status <> 'withdrawn'
      ) backing on true
     where f.id in (l.fact_id, l.other_id)
       and l.relation = 'contradicts'
       and o.status <> 'withdrawn'
  ) as side (id, is_for)
  join assertions a on a.fact_id = side.id
  left join snapshots s on s.hash = a.snapshot_hash
  left join lateral (
    select title, authors, author, doi, published_at
      from fetches
     where url = a.source_url
       and hash = a.snapshot_hash
     order by fetched_at desc, id desc
     limit 1
  ) page on true
 where a.verdict not in ('contradicted', 'silent')
   and (side.is_for or a.ground = 'stands')
window side_of_fact as (partition by f.id, side.is_for)
 order by f.id, a.id;

-- update
with after as (
  select *
    from unnest(
      %(fact_ids)s::uuid[], %(change_ids)s::uuid[], %(confidences)s::real[], %(statuses)s::text[]
    ) as after (id, change_id, confidence, status)
), before as (
  select f.id, f.confidence, f.status
    from facts f
    join after using (id)
   order by f.id
     for update of f
), changed as (
  select a.*, b.confidence as confidence_before, b.status as status_before
    from after a
    join before b using (id)
   where b.status <> 'withdrawn'
     and (b.confidence <> a.confidence or b.status <> a.status)
), history as (
  insert into fact_changes (id, fact_id, confidence, status, reason, run_id, call_id)
  select change_id, id, confidence_before, status_before, %(reason)s, %(run_id)s, %(call_id)s
    from changed
   where id is distinct from %(new_id)s::uuid
), updated as (
  update facts f
     set confidence = c.confidence, status = c.status, validated_at = now(),
         superseded_by = case when c.status = 'superseded' then f.superseded_by end
    from changed c
   where f.id = c.id
)
select b.id::text as fact_id, coalesce(c.confidence, b.confidence) as confidence,
       coalesce(c.status, b.status) as status, b.status as status_before, c.id is not null as is_changed
  from before b
  left join changed c using (id);

-- without_sketch
-- Of what facts rest on, those that they are linked to, and what supports these: all that `assertions` may compare.
with linked as (
  select id
    from unnest(%(fact_ids)s::uuid[]) as f (id)
  union
  select unnest(array[l.fact_id, l.other_id])
    from fact_links l
   where l.fact_id = any(%(fact_ids)s::uuid[])
      or l.other_id = any(%(fact_ids)s::uuid[])
), side as (
  select id
    from linked
  union
  select b.fact_id
    from linked
    join fact_links b on b.other_id = linked.id
   where b.relation = 'supports'
)
select hash, body
  from snapshots
 where sketch is null
   and hash in (
     select unnest(%(hashes)s::text[])
     union
     select a.snapshot_hash
       from side
       join assertions a on a.fact_id = side.id
   )
   and hash > %(after)s
 order by hash
 limit %(limit)s;

-- store_sketches
-- Locked in one order, so that two writers of the same snapshots do not wait for each other. The limit leaves all, and keeps
-- the plan (as in `changes.sql`).
with locked as (
  select hash, text.sketch, text.studies
    from (select *
            from unnest(%(hashes)s::text[], %(sketches)s::bytea[], %(studies)s::jsonb[]) as given (hash, sketch, studies)
           limit cardinality(%(hashes)s::text[])) as text
    join snapshots s using (hash)
   order by hash
     for no key update of s
)
update snapshots s
   set sketch = locked.sketch, studies = locked.studies
  from locked
 where s.hash = locked.hash;
