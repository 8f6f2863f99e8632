-- moment
-- Since when a claim does not see what others write: now, or since when those write that have declared it, however long the commit
-- of one takes. Others hold the subject alone. If one does at this moment, what it has written is not seen either: none writes
-- for a minute. A second is for clocks that are set. And the text that the claim rests on if its sketch has not been computed yet.
select least(now() - case
                       when %(may_lock)s and pg_try_advisory_xact_lock_shared(7201849, hashtext(%(subject_id)s))
                         then interval '1 second'
                       else interval '1 minute'
                     end,
             (select min(at)
                from fact_intents
               where subject_id = %(subject_id)s
                 and at > clock_timestamp() - interval '10 minutes')) as at,
       (select body from snapshots where hash = %(hash)s and sketch is null) as body;

-- withdrawn
with nearest as materialized (
  select fact_id, (embedding <=> %(embedding)s::halfvec) + 0 as distance
    from {table}
   where subject_id = %(subject_id)s
     and status = 'withdrawn'
   order by (embedding <=> %(embedding)s::halfvec) + 0, fact_id
   limit %(limit)s
)
select f.id::text as id, f.content, f.status, 1 - n.distance as cosine, {{same_text}}
  from nearest n
  join facts f on f.id = n.fact_id
 where 1 - n.distance >= %(cosine_min)s
 order by n.distance, n.fact_id;

-- end_intent
  delete from fact_intents
   where key = %(key)s
  returning id

-- newest
-- What was stored since the claim was compared, as near as what it was compared with. A fact is dated when it is written.
select f.id::text as id, f.content, f.status, 1 - (v.embedding <=> %(embedding)s::halfvec) as cosine, null::bigint as intent_id,
       {{same_text}}
  from facts f
  join {table} v on v.fact_id = f.id
 where f.subject_id = %(subject_id)s
   and f.created_at > %(since)s::timestamptz
   and f.id <> all(%(compared_ids)s::uuid[])
   and 1 - (v.embedding <=> %(embedding)s::halfvec) >= %(cosine_min)s

-- near
-- That, and what writers before this one are about to store.
{{newest}}
union all
select null, i.content, null, null, i.id, false
  from fact_intents i
 where i.subject_id = %(subject_id)s
   and i.id < (select id from mine)
   and case i.space
         when %(space)s then 1 - (i.embedding <=> %(embedding)s::halfvec) >= %(cosine_min)s
         else i.content = %(content)s
       end

-- stored_since
{{newest}}
 order by cosine desc, id;
