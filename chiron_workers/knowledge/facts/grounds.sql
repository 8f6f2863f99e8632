-- differing
-- Assertions whose source says something else of them now than is stored: of some addresses, in all subjects or in one. An
-- address whose last change nobody has looked at yet is left to whoever does.
with latest as (
  select distinct on (url) id, url, kind, checked_at
    from source_changes
   where url = any(%(urls)s)
   order by url, at desc, id desc
), concerned as (
  -- By arrays, so that Postgres looks both up in indexes.
  select a.id, a.fact_id, a.source_url, a.ground, a.has_new_context
    from assertions a
   where md5(a.source_url) = any(array(select md5(url) from unnest(%(urls)s::text[]) as asked (url)))
  union
  select a.id, a.fact_id, a.source_url, a.ground, a.has_new_context
    from assertions a
   where a.id = any(array(select x.assertion_id from changed_contexts x where x.url = any(%(urls)s)))
  union
  select a.id, a.fact_id, a.source_url, a.ground, a.has_new_context
    from assertions a
   where a.id = any(array(select l.assertion_id from lost_grounds l join latest c on c.id = l.change_id))
), present as (
  select a.id, a.fact_id, a.source_url, a.ground as ground_before, a.has_new_context as had_new_context,
         coalesce(x.is_current and (x.judged_verdict is distinct from 'supported'
                                    or x.judged_difference is distinct from x.difference), false) as has_new_context,
         coalesce(not x.is_current, false) as is_back,
         case
           when exists (select from retracted_sources r where r.url = a.source_url) then 'source retracted'
           else coalesce(
             (select case c.kind when 'gone' then 'source gone' else 'source changed' end
                from lost_grounds l
                join latest c on c.id = l.change_id
               where l.assertion_id = a.id
               limit 1), 'stands')
         end as ground
    from concerned a
    left join changed_contexts x on x.assertion_id = a.id
   where not exists (select from latest c where c.url = a.source_url and c.checked_at is null)
)
select p.id, p.fact_id::text as fact_id, p.source_url, p.ground, p.has_new_context, f.subject_id,
       p.ground = 'stands' and p.ground_before = 'stands' as is_context
  from present p
  join facts f on f.id = p.fact_id
 where (p.ground <> p.ground_before or p.has_new_context <> p.had_new_context or p.is_back)
   and (%(subject_id)s::text is null or f.subject_id = %(subject_id)s)
 order by f.subject_id, p.source_url, p.ground, p.id;

-- store_of_facts
update facts f
   set ground = present.ground, has_new_context = present.has_new_context
  from unnest(%(ids)s::uuid[], %(grounds)s::text[], %(new_contexts)s::boolean[]) as present (id, ground, has_new_context)
 where f.id = present.id;

-- store_of_corroborations
update corroborations c
   set ground = present.ground, has_new_context = present.has_new_context
  from unnest(%(ids)s::uuid[], %(grounds)s::text[], %(new_contexts)s::boolean[]) as present (id, ground, has_new_context)
 where c.id = present.id;

-- restore_verdicts_of_facts
-- What was judged among other words has the verdict of before again, where its source has the words of before again.
update facts f
   set verdict = x.verdict_before, verdict_reason = x.verdict_reason_before, verdict_by = x.verdict_by_before
  from changed_contexts x
 where x.assertion_id = any(%(ids)s::uuid[])
   and not x.is_current
   and x.verdict_before is not null
   and f.id = x.assertion_id;

-- restore_verdicts_of_corroborations
update corroborations c
   set verdict = x.verdict_before, verdict_reason = x.verdict_reason_before, verdict_by = x.verdict_by_before
  from changed_contexts x
 where x.assertion_id = any(%(ids)s::uuid[])
   and not x.is_current
   and x.verdict_before is not null
   and c.id = x.assertion_id;

-- forget_contexts
delete from changed_contexts
 where assertion_id = any(%(ids)s::uuid[])
   and not is_current;

-- successions
-- Which of these facts took whose place before.
select id::text as fact_id, superseded_by::text as successor_id
  from facts
 where superseded_by is not null
   and (id = any(%(fact_ids)s::uuid[]) or superseded_by = any(%(fact_ids)s::uuid[]));

-- name_successors
-- Of facts that no source bears out any more, the one that the same source says instead: it was set against it, or it had its
-- place before. The newest of several.
update facts f
   set superseded_by = successor.id
  from (
    select distinct on (f.id) f.id as fact_id, n.id
      from facts f
      join assertions lost on lost.fact_id = f.id and lost.ground = 'source changed'
      join (
        select fact_id, other_id
          from fact_links
         where relation = 'contradicts'
        union all
        select other_id, fact_id
          from fact_links
         where relation = 'contradicts'
        union all
        select *
          from unnest(%(successor_ids)s::uuid[], %(predecessor_ids)s::uuid[]) as earlier (fact_id, other_id)
      ) rival on rival.fact_id = f.id
      join facts n on n.id = rival.other_id and n.status not in ('superseded', 'withdrawn')
     where f.id = any(%(fact_ids)s::uuid[])
       and f.status = 'superseded'
       and exists (
         select
           from assertions a
          where a.fact_id = n.id
            and a.source_url = lost.source_url
            and a.ground = 'stands'
            and a.quote_state = 'verified'
       )
     order by f.id, n.id desc
  ) successor
 where f.id = successor.fact_id;
