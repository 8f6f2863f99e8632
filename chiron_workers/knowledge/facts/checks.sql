-- open
-- Assertions of a subject whose quote stands in its source and that no model has judged, or not among the words that stand around
-- it now.
select a.id, a.fact_id::text as fact_id, a.content, a.quote, a.context, a.source_url, a.verdict, a.checked_run_id,
       coalesce(x.at, a.created_at) as created_at, x.difference, x.words as context_change
  from assertions a
  join facts f on f.id = a.fact_id
  left join changed_contexts x on x.assertion_id = a.id and a.has_new_context and x.judged_difference is distinct from x.difference
 where f.subject_id = %(subject_id)s
   and f.status <> 'withdrawn'
   and a.quote_state = 'verified'
   and (a.verdict_by in ('', 'rules') or x.assertion_id is not null)
   and a.ground = 'stands'

-- open_to_run
-- Those that were there when the run was submitted and that it has not asked about: the same ones for a call that is made again.
select open.*
  from ({{open}}) as open
 where open.created_at <= (select created_at from runs where id = %(run_id)s)
   and open.checked_run_id is distinct from %(run_id)s

-- page
{{open_to_run}}
 order by open.id
 limit %(limit)s;

-- contexts
-- The unjudged ones of some facts, with the words that are around their quotes now.
select open.*
  from ({{open}}) as open
 where open.difference is not null
   and open.fact_id = any(%(fact_ids)s::text[])
 order by open.id
 limit %(limit)s;

-- left
select count(*)::int as assertions
  from ({{open_to_run}}) as rest;

-- overview
-- How much there is to ask about, a hash of it, and how many quotes nobody can be asked about.
select (select count(*)::int from ({{open}}) as open) as assertions,
       (select md5(string_agg(concat_ws(':', open.id, open.difference), ' ' order by open.id)) from ({{open}}) as open) as digest,
       (select count(*)::int
          from assertions a
          join facts f on f.id = a.fact_id
         where f.subject_id = %(subject_id)s
           and f.status <> 'withdrawn'
           and a.quote_state <> 'verified') as unverified;

-- store_of_facts
update facts f
   set verdict = answer.verdict, verdict_reason = answer.reason, verdict_by = answer.judge, checked_run_id = %(run_id)s,
       window_pieces = answer.pieces, window_hash = answer.hash
  from unnest(%(ids)s::uuid[], %(verdicts)s::text[], %(reasons)s::text[], %(judges)s::text[], %(windows)s::jsonb[],
              %(window_hashes)s::text[]) as answer (id, verdict, reason, judge, pieces, hash)
 where f.id = answer.id
   and f.verdict_by in ('', 'rules')
returning f.id;

-- store_of_corroborations
update corroborations c
   set verdict = answer.verdict, verdict_reason = answer.reason, verdict_by = answer.judge, checked_run_id = %(run_id)s,
       window_pieces = answer.pieces, window_hash = answer.hash
  from unnest(%(ids)s::uuid[], %(verdicts)s::text[], %(reasons)s::text[], %(judges)s::text[], %(windows)s::jsonb[],
              %(window_hashes)s::text[]) as answer (id, verdict, reason, judge, pieces, hash)
 where c.id = answer.id
   and c.verdict_by in ('', 'rules')
returning c.id;

-- store_of_contexts
-- What a model said of statements among the words that stand around their quotes now, and what they had before. Words that have
-- changed again meanwhile are not those that it saw.
with judged as (
  update changed_contexts x
     set judged_difference = answer.difference, judged_verdict = answer.verdict,
         verdict_before = coalesce(x.verdict_before, a.verdict),
         verdict_reason_before = coalesce(x.verdict_reason_before, a.verdict_reason),
         verdict_by_before = coalesce(x.verdict_by_before, a.verdict_by)
    from unnest(%(ids)s::uuid[], %(verdicts)s::text[], %(differences)s::text[]) as answer (id, verdict, difference)
    join assertions a on a.id = answer.id
   where x.assertion_id = answer.id
     and x.is_current
     and x.difference = answer.difference
  returning x.assertion_id as id
), answer as (
  select *
    from unnest(%(ids)s::uuid[], %(verdicts)s::text[], %(reasons)s::text[], %(judges)s::text[])
         as answer (id, verdict, reason, judge)
    join judged using (id)
), of_facts as (
  update facts f
     set verdict = answer.verdict, verdict_reason = answer.reason, verdict_by = answer.judge, checked_run_id = %(run_id)s,
         has_new_context = answer.verdict <> 'supported'
    from answer
   where f.id = answer.id
), of_corroborations as (
  update corroborations c
     set verdict = answer.verdict, verdict_reason = answer.reason, verdict_by = answer.judge, checked_run_id = %(run_id)s,
         has_new_context = answer.verdict <> 'supported'
    from answer
   where c.id = answer.id
)
select id
  from judged;

-- leave_contexts
-- No model gave an answer that can be used: the run asks about them no more.
with of_facts as (
  update facts
     set checked_run_id = %(run_id)s
   where id = any(%(ids)s::uuid[])
)
update corroborations
   set checked_run_id = %(run_id)s
 where id = any(%(ids)s::uuid[]);

-- verdicts_of_run
-- What a run has found so far, by verdict.
select a.verdict, count(*)::int as assertions
  from facts f
  join assertions a on a.fact_id = f.id
 where f.subject_id = %(subject_id)s
   and a.checked_run_id = %(run_id)s
 group by a.verdict;
