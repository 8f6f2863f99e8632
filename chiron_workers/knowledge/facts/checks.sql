-- open
-- Assertions of a subject whose quote stands in its source and whom nobody has judged.
select a.id, a.fact_id::text as fact_id, a.content, a.quote, a.context, a.source_url, a.created_at, a.checked_run_id
  from assertions a
  join facts f on f.id = a.fact_id
 where f.subject_id = %(subject_id)s
   and f.status <> 'withdrawn'
   and a.quote_state = 'verified'
   and a.verdict = 'unchecked'
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

-- left
select count(*)::int as assertions
  from ({{open_to_run}}) as rest;

-- overview
-- How much there is to ask about, a hash of it, and how many quotes nobody can be asked about.
select (select count(*)::int from ({{open}}) as open) as assertions,
       (select md5(string_agg(open.id::text, ' ' order by open.id)) from ({{open}}) as open) as digest,
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
   and f.verdict = 'unchecked'
returning f.id;

-- store_of_corroborations
update corroborations c
   set verdict = answer.verdict, verdict_reason = answer.reason, verdict_by = answer.judge, checked_run_id = %(run_id)s,
       window_pieces = answer.pieces, window_hash = answer.hash
  from unnest(%(ids)s::uuid[], %(verdicts)s::text[], %(reasons)s::text[], %(judges)s::text[], %(windows)s::jsonb[],
              %(window_hashes)s::text[]) as answer (id, verdict, reason, judge, pieces, hash)
 where c.id = answer.id
   and c.verdict = 'unchecked'
returning c.id;

-- verdicts_of_run
-- What a run has found so far, by verdict.
select a.verdict, count(*)::int as assertions
  from facts f
  join assertions a on a.fact_id = f.id
 where f.subject_id = %(subject_id)s
   and a.checked_run_id = %(run_id)s
 group by a.verdict;
