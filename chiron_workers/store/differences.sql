-- facts
-- A change holds what was before it, so a fact was at a moment what its first change after that moment holds, or what it
-- is now. What came and went between the two moments is no difference.
with touched as (
  select id from facts where subject_id = %(subject_id)s and created_at > %(since)s and created_at <= %(until)s
  union
  select f.id from fact_changes c join facts f on f.id = c.fact_id
   where f.subject_id = %(subject_id)s and c.at > %(since)s and c.at <= %(until)s
), known as (
  select f.id, f.content, f.quote, f.source_url, f.topic_path, f.created_at, f.created_at > %(since)s as is_new,
         coalesce(then_is.status, f.status) as status_before, coalesce(then_is.confidence, f.confidence) as confidence_before,
         coalesce(now_is.status, f.status) as status, coalesce(now_is.confidence, f.confidence) as confidence,
         last.at, last.reason
    from touched join facts f using (id)
    left join lateral (select status, confidence from fact_changes where fact_id = f.id and at > %(since)s order by id limit 1) then_is on true
    left join lateral (select status, confidence from fact_changes where fact_id = f.id and at > %(until)s order by id limit 1) now_is on true
    left join lateral (
      select at, reason from fact_changes where fact_id = f.id and at > %(since)s and at <= %(until)s order by id desc limit 1) last on true
), different as (
  select *, case
           when is_new and status = any(%(shown)s) then 'new'
           when is_new and status = 'candidate' then 'candidates'
           when is_new then null
           when status_before = any(%(shown)s) and status = any(%(shown)s)
             then case when status <> status_before or round(confidence::numeric, 2) <> round(confidence_before::numeric, 2) then 'changed' end
           when status_before = any(%(shown)s) then case status when 'withdrawn' then 'withdrawn' else 'dropped' end
           when status = any(%(shown)s) then case status_before when 'withdrawn' then 'restored' else 'lifted' end
         end as kind
    from known
), numbered as (
  select *, count(*) over (partition by kind) as total, row_number() over (partition by kind order by confidence desc, id) as n
    from different where kind is not null
)
select kind, total, id::text as id, content, quote, source_url, topic_path, status, confidence,
       case when not is_new then status_before end as status_before, case when not is_new then confidence_before end as confidence_before,
       coalesce(at, created_at) as at, coalesce(reason, '') as reason
  from numbered where n <= %(limit)s order by kind, n;

-- corroborated
-- Facts that were there before and are shown, with the sources that say so, too, since then.
with backed as (
  select c.fact_id, array_agg(distinct c.source_url order by c.source_url) as sources, max(c.created_at) as at
    from corroborations c join facts f on f.id = c.fact_id
   where f.subject_id = %(subject_id)s and f.created_at <= %(since)s and f.status = any(%(shown)s)
     and c.created_at > %(since)s and c.created_at <= %(until)s
   group by c.fact_id
)
select count(*) over () as total, f.id::text as id, f.content, f.topic_path, f.confidence, b.sources, b.at
  from backed b join facts f on f.id = b.fact_id
 order by b.at desc, f.id limit %(limit)s;

-- contradicted
-- Both sides of a contradiction stay; one that is or was out of sight on both sides is nobody's concern.
select count(*) over () as total, f.id::text as id, f.content, f.source_url, o.id::text as other_id, o.content as other_content,
       o.source_url as other_source_url, l.reason, l.created_at as at
  from fact_links l join facts f on f.id = l.fact_id join facts o on o.id = l.other_id
 where f.subject_id = %(subject_id)s and l.relation = 'contradicts' and l.created_at > %(since)s and l.created_at <= %(until)s
   and (f.status = any(%(shown)s) or o.status = any(%(shown)s)) and 'withdrawn' not in (f.status, o.status)
 order by l.created_at desc, f.id limit %(limit)s;

-- sources
-- The last change of each address between the two moments, where facts of the subject lost what they rest on, or have it
-- again that had lost it before. A page that said something else in between has not changed.
with latest as (
  select distinct on (url) * from source_changes where at > %(since)s and at <= %(until)s order by url, at desc, id desc
), concerned as (
  -- What the change before had lost already was told then.
  select c.id as change_id, l.fact_id
    from latest c
    join lost_grounds l on l.change_id = c.id
    left join lateral (
      select id, kind from source_changes b where b.url = c.url and (b.at, b.id) < (c.at, c.id) and b.at <= %(since)s
       order by at desc, id desc limit 1
    ) earlier on true
   where earlier.kind is distinct from c.kind
      or not exists (select from lost_grounds e where e.change_id = earlier.id and e.assertion_id = l.assertion_id)
  union
  select c.id, l.fact_id
    from latest c
    join source_changes gone on gone.fetch_id = c.fetch_id and gone.kind = 'gone' and gone.at <= %(since)s
    join lost_grounds l on l.change_id = gone.id
   where c.kind = 'back'
), told as (
  select c.id, c.url, c.kind, c.at, c.reason, c.agreement, array_agg(f.id::text order by f.id) as fact_ids
    from latest c join concerned on concerned.change_id = c.id join facts f on f.id = concerned.fact_id
   where f.subject_id = %(subject_id)s and f.status = any(%(shown)s)
   group by c.id, c.url, c.kind, c.at, c.reason, c.agreement
), numbered as (
  select *, count(*) over (partition by kind) as total, row_number() over (partition by kind order by at desc, url) as n from told
)
select total, url, kind, at, reason, agreement, fact_ids from numbered where n <= %(limit)s order by kind, n;

-- subject
select id from subjects where id = %(subject_id)s;

-- now
select now() as now;

-- batches
select id, subject_id, created_at, finished_at from batches where id = any(%(ids)s);
