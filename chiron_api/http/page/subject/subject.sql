-- counts
select status, count(*)::int as facts
  from facts
 where subject_id = %(subject_id)s
 group by status;

-- work
-- What else there is of a subject, and when something of it changed last.
select (select count(*) from documents where subject_id = %(subject_id)s)::int as documents,
       greatest((select max(created_at) from facts where subject_id = %(subject_id)s),
                (select max(added_at) from documents where subject_id = %(subject_id)s),
                (select max(updated_at) from nodes where subject_id = %(subject_id)s)) as changed_at,
       (select id from rechecks where subject_id = %(subject_id)s order by created_at desc, id desc limit 1) as recheck_id;

-- facts
-- One more than a page has, which tells whether there is another page.
select id, subject_id, content, quote, source_url, confidence, status, created_at
  from facts
 where subject_id = %(subject_id)s
   and status in ('accepted', 'disputed')
   and (%(paths)s::text[] is null or topic_path = any(%(paths)s))
   and (%(before)s::uuid is null or id < %(before)s)
 order by id desc
 limit %(limit)s;

-- contradictions
-- Pairs of which neither side is withdrawn or superseded and one at least is shown, the newest first; a pair may be linked
-- both ways.
with pair as (
  select distinct on (least(l.fact_id, l.other_id), greatest(l.fact_id, l.other_id))
         l.reason, l.decided_by, l.created_at as at, f.id, o.id as other_id
    from fact_links l
    join facts f on f.id = l.fact_id
    join facts o on o.id = l.other_id
   where f.subject_id = %(subject_id)s
     and l.relation = 'contradicts'
     and f.status not in ('superseded', 'withdrawn')
     and o.status not in ('superseded', 'withdrawn')
     and (f.status <> 'candidate' or o.status <> 'candidate')
   order by least(l.fact_id, l.other_id), greatest(l.fact_id, l.other_id), l.created_at
)
select count(*) over ()::int as total, p.reason, p.decided_by, p.at,
       f.id, f.content, f.quote, f.source_url, f.status, f.confidence, f.created_at,
       o.id as other_id, o.content as other_content, o.quote as other_quote, o.source_url as other_source_url,
       o.status as other_status, o.confidence as other_confidence, o.created_at as other_created_at
  from pair p
  join facts f on f.id = p.id
  join facts o on o.id = p.other_id
 order by p.at desc, f.id
 limit %(limit)s;

-- sources
-- What the facts of a subject that are in sight rest on: those that no longer bear them out first, then those of most facts.
-- Joining facts with all assertions would join them with themselves.
with assertion as (
  select id as fact_id, source_url as url, source_kind as kind,
         case when ground = 'stands' and has_new_context then 'context changed' else ground end as ground
    from facts
   where subject_id = %(subject_id)s
     and status in ('accepted', 'disputed', 'superseded')
  union all
  select c.fact_id, c.source_url, c.source_kind,
         case when c.ground = 'stands' and c.has_new_context then 'context changed' else c.ground end
    from corroborations c
    join facts f on f.id = c.fact_id
   where f.subject_id = %(subject_id)s
     and f.status in ('accepted', 'disputed', 'superseded')
), source as materialized (
  select url, count(*)::int as assertions, coalesce(max(kind), 'unknown') as kind,
         coalesce(max(ground) filter (where ground not in ('stands', 'context changed')), max(ground) filter (where ground <> 'stands'),
                  'stands') as ground
    from assertion
   group by url
), shown as (
  select *
    from source
   order by ground = 'stands', assertions desc, url
   limit %(limit)s offset %(offset)s
)
select s.*, r.doi as retracted_doi, latest.kind as change, latest.reason, fetched.at as fetched_at,
       (select count(*) from source)::int as total,
       (select json_object_agg(kind, sources) from (select kind, count(*) as sources from source group by kind) k) as kinds
  from shown s
  left join retracted_sources r on r.url = s.url
  left join lateral (
    select kind, reason
      from source_changes
     where url = s.url
     order by at desc, id desc
     limit 1
  ) latest on true
  left join lateral (
    select max(fetched_at) as at
      from fetches
     where url = s.url
  ) fetched on true
 order by s.ground = 'stands', s.assertions desc, s.url;

-- batch_ids
select id
  from batches
 where subject_id = %(subject_id)s
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;
