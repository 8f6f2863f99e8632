-- now_is
-- What a fact `f` was at the second moment, if it has changed since; nothing where it is so still.
    left join lateral (
      select status, confidence
        from fact_changes
       where fact_id = f.id
         and at > %(until)s
       order by id
       limit 1
    ) now_is on true;

-- facts
-- A change holds what was before it, so a fact was at a moment what its first change after that moment holds, or what
-- it is now. What came and went between the two moments is no difference.
-- The changes are read once: most facts have none, and a look for each of ten thousand takes longer than all else here.
with changes as materialized (
  select c.fact_id, c.id, c.at, c.status, c.confidence, c.reason
    from fact_changes c
    join facts f on f.id = c.fact_id
   where f.subject_id = %(subject_id)s
     and c.at > %(since)s
), touched as (
  select id
    from facts
   where subject_id = %(subject_id)s
     and created_at > %(since)s
     and created_at <= %(until)s
  union
  select fact_id
    from changes
   where at <= %(until)s
), then_is as (
  select distinct on (fact_id) fact_id, status, confidence
    from changes
   order by fact_id, id
), now_is as (
  select distinct on (fact_id) fact_id, status, confidence
    from changes
   where at > %(until)s
   order by fact_id, id
), last as (
  select distinct on (fact_id) fact_id, at, reason
    from changes
   where at <= %(until)s
   order by fact_id, id desc
), known as (
  select f.id, f.content, f.quote, f.context, f.source_url, f.topic_path, f.created_at, f.created_at > %(since)s as is_new,
         f.superseded_by,
         coalesce(then_is.status, f.status) as status_before,
         coalesce(then_is.confidence, f.confidence) as confidence_before,
         coalesce(now_is.status, f.status) as status, coalesce(now_is.confidence, f.confidence) as confidence,
         last.at, last.reason
    from touched
    join facts f using (id)
    left join then_is on then_is.fact_id = f.id
    left join now_is on now_is.fact_id = f.id
    left join last on last.fact_id = f.id
), different as (
  select *, case
           when is_new and status = any(%(shown)s) then 'new'
           when is_new and status = 'candidate' then 'candidates'
           when is_new then null
           when status_before = any(%(shown)s) and status = any(%(shown)s)
             then case
               when status <> status_before
                 or round(confidence::numeric, 2) <> round(confidence_before::numeric, 2) then 'changed'
             end
           when status_before = any(%(shown)s) then case status when 'candidate' then 'dropped' else status end
           when status = any(%(shown)s) then case status_before when 'candidate' then 'lifted' else 'restored' end
         end as kind
    from known
), numbered as (
  select *, count(*) over (partition by kind) as total,
         row_number() over (partition by kind order by confidence desc, id) as n
    from different
   where kind is not null
)
select kind, total, id::text as id, content, quote, context, source_url, topic_path, status, confidence,
       case when not is_new then status_before end as status_before,
       case when not is_new then confidence_before end as confidence_before,
       coalesce(at, created_at) as at, coalesce(reason, '') as reason,
       case when status = 'superseded' then superseded_by::text end as superseded_by
  from numbered
 where n <= %(limit)s
 order by kind, n;

-- corroborated
-- Facts that were there before and were shown at the second moment, with the sources that had come to say so, too.
with backed as (
  select c.fact_id, array_agg(distinct c.source_url order by c.source_url) as sources, max(c.created_at) as at
    from corroborations c
    join facts f on f.id = c.fact_id
   where f.subject_id = %(subject_id)s
     and f.created_at <= %(since)s
     and c.created_at > %(since)s and c.created_at <= %(until)s
   group by c.fact_id
), known as (
  select b.*, coalesce(now_is.status, f.status) as status,
         coalesce(now_is.confidence, f.confidence) as confidence, f.content, f.topic_path
    from backed b
    join facts f on f.id = b.fact_id
{{now_is}}
)
select count(*) over () as total, fact_id::text as id, content, topic_path, confidence, sources, at
  from known
 where status = any(%(shown)s)
 order by at desc, fact_id
 limit %(limit)s;

-- contradicted
-- Both sides of a contradiction stay; one that was out of sight on both sides, or withdrawn or superseded on one, was shown
-- nowhere.
with pair as (
  select f.id, f.content, f.source_url, o.id as other_id, o.content as other_content,
         o.source_url as other_source_url, l.reason, l.created_at as at,
         array[coalesce(now_is.status, f.status), coalesce(other_is.status, o.status)] as statuses
    from fact_links l
    join facts f on f.id = l.fact_id
    join facts o on o.id = l.other_id
{{now_is}}
    left join lateral (
      select status
        from fact_changes
       where fact_id = o.id
         and at > %(until)s
       order by id
       limit 1
    ) other_is on true
   where f.subject_id = %(subject_id)s
     and l.relation = 'contradicts'
     and l.created_at > %(since)s
     and l.created_at <= %(until)s
)
select count(*) over () as total, id::text as id, content, source_url, other_id::text as other_id, other_content,
       other_source_url, reason, at
  from pair
 where statuses && %(shown)s::text[]
   and not statuses && array['superseded', 'withdrawn']
 order by at desc, pair.id
 limit %(limit)s;

-- sources
-- The last change of each address between the two moments, where facts of the subject lost what they rest on, or have
-- it again that had lost it before; an address that is back may do both. A page that said something else in between
-- has not changed. What was superseded by that is out of sight, and told of all the same.
with latest as (
  select distinct on (url) *
    from source_changes
   where at > %(since)s
     and at <= %(until)s
     and not reread
   order by url, at desc, id desc
), concerned as (
  -- What the change before had lost already was reported then: words that are not there, or a whole source.
  select c.id as change_id, l.fact_id, true as is_lost
    from latest c
    join lost_grounds l on l.change_id = c.id
    left join lateral (
      select id, kind
        from source_changes b
       where b.url = c.url
         and (b.at, b.id) < (c.at, c.id)
         and b.at <= %(since)s
       order by at desc, id desc
       limit 1
    ) earlier on true
   where (earlier.kind = 'gone') is distinct from (c.kind = 'gone')
      or not exists (select from lost_grounds e where e.change_id = earlier.id and e.assertion_id = l.assertion_id)
  union
  select c.id, l.fact_id, false
    from latest c
   cross join lateral (
      select id, kind, at
        from source_changes b
       where b.url = c.url
         and (b.at, b.id) < (c.at, c.id)
       order by at desc, id desc
       limit 1
    ) gone
    join lost_grounds l on l.change_id = gone.id
   where c.kind = 'back'
     and gone.kind = 'gone'
     and gone.at <= %(since)s
), told as (
  select c.id, c.url, c.kind, c.at, c.reason, c.agreement,
         array_agg(distinct f.id::text order by f.id::text) as fact_ids,
         coalesce(array_agg(distinct f.id::text order by f.id::text) filter (where is_lost), '{}') as lost_fact_ids
    from latest c
    join concerned on concerned.change_id = c.id
    join facts f on f.id = concerned.fact_id
{{now_is}}
   where f.subject_id = %(subject_id)s
     and coalesce(now_is.status, f.status) = any(%(shown)s || array['superseded'])
   group by c.id, c.url, c.kind, c.at, c.reason, c.agreement
), numbered as (
  select *, count(*) over (partition by kind) as total,
         row_number() over (partition by kind order by at desc, url) as n,
         count(*) filter (where kind = 'back' and lost_fact_ids <> '{}') over () as back_changed
    from told
)
select total, back_changed, url, kind, at, reason, agreement, fact_ids, lost_fact_ids
  from numbered
 where n <= %(limit)s
 order by kind, n;

-- now
select now() as now
  from subjects
 where id = %(subject_id)s;

-- batches
select id, subject_id, created_at, finished_at
  from batches
 where id = any(%(ids)s);
