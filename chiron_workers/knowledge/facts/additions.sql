-- ground
coalesce((select 'source retracted' from retracted_sources where url = %(source_url)s), 'stands')

-- twin
-- The same words from the same source, which may have been stored under another embedding model.
select id::text
  from facts
 where subject_id = %(subject_id)s
   and md5(content) = md5(%(content)s)
   and md5(source_url) = md5(%(source_url)s)

-- insert_fact
insert into facts (
  id, subject_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score, topic_path,
  confidence, claimed_confidence, status, contradictions, snapshot_hash, run_id, call_id, context, window_pieces, window_hash, verdict,
  verdict_reason, verdict_by, observed_at, valid_from, valid_until, ground,
  claimed_score, source_kind, language, tsv, words_version, created_at
)
select
  %(id)s, %(subject_id)s, %(content)s, %(quote)s, %(quote_state)s, %(quote_start)s, %(quote_end)s,
  %(source_url)s, %(source_score)s, %(topic_path)s, %(confidence)s, %(claimed_confidence)s, %(status)s,
  %(contradictions)s, %(snapshot_hash)s, %(run_id)s, %(call_id)s, %(context)s, %(window_pieces)s, %(window_hash)s,
  %(verdict)s,
  %(verdict_reason)s, %(verdict_by)s, %(observed_at)s, %(valid_from)s, %(valid_until)s, {{ground}}, %(claimed_score)s,
  %(source_kind)s, language, to_tsvector(language::regconfig, %(words)s) || %(pairs)s::tsvector, %(words_version)s,
  clock_timestamp()
  from (select coalesce(%(language)s, language_of_subject(%(subject_id)s), 'english') as language) as text

-- once
-- The unique index on subject, content and source makes the second of two writers wait for the first and then
-- insert nothing.
on conflict (subject_id, md5(content), md5(source_url)) do nothing
returning id, subject_id, status, confidence, ground

-- stale_change
-- A fact from a text that its source had changed already is looked for in the newest one by whoever looks at the source next.
update source_changes
   set checked_at = null
 where id = (select id from source_changes where url = %(source_url)s order by at desc, id desc limit 1)
   and checked_at is not null
   and hash is distinct from %(snapshot_hash)s::text
   and %(snapshot_hash)s::text is not null

-- vector_of_fact
  insert into {table} (fact_id, subject_id, status, confidence, embedding)
  select id, subject_id, status, confidence, %(embedding)s::halfvec
    from fact

-- insert
{{insert_fact}}
{{once}};

-- insert_apart
-- A fact to which nothing near it is related.
with fact as (
{{insert_fact}}
{{once}}
), vector as (
{{vector_of_fact}}
), reopened as (
{{stale_change}}
   and exists (select from fact)
)
select ground
  from fact;

-- insert_unless_near
-- In one statement, for most facts are like no other. The writer's intent ends with its transaction. A fact that is stored has
-- no twin.
with mine as (
{{end_intent}}
), near as materialized (
{{near}}
), fact as (
{{insert_fact}}
 where exists (select from mine)
   and not exists (select from near)
{{once}}
), vector as (
{{vector_of_fact}}
), reopened as (
{{stale_change}}
   and exists (select from fact)
)
select exists (select from mine) as is_mine, (select ground from fact) as ground,
       case when not exists (select from fact) then ({{twin}}) end as twin_id, near.*
  from (values (true)) as always
  left join near on true;

-- look
with mine as (
{{end_intent}}
), near as materialized (
{{near}}
)
select exists (select from mine) as is_mine, null as ground, ({{twin}}) as twin_id, near.*
  from (values (true)) as always
  left join near on true;

-- find_twin
{{twin}};

-- join
-- A source is counted once for a fact; with a verified quote that bears it out it counts again where it had none, or no longer.
insert into corroborations (
  id, fact_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score, claimed_confidence,
  snapshot_hash, run_id, call_id, context, window_pieces, window_hash, verdict, verdict_reason, verdict_by, observed_at,
  valid_from, valid_until, ground, claimed_score, source_kind
)
select %(id)s, %(fact_id)s, %(content)s, %(quote)s, %(quote_state)s, %(quote_start)s, %(quote_end)s,
       %(source_url)s, %(source_score)s, %(claimed_confidence)s, %(snapshot_hash)s, %(run_id)s, %(call_id)s,
       %(context)s, %(window_pieces)s, %(window_hash)s, %(verdict)s, %(verdict_reason)s, %(verdict_by)s, %(observed_at)s, %(valid_from)s, %(valid_until)s,
       {{ground}}, %(claimed_score)s, %(source_kind)s
 where not exists (
   select
     from assertions
    where fact_id = %(fact_id)s
      and source_url = %(source_url)s
      and ((quote_state = 'verified' and verdict in ('supported', 'unchecked') and ground = 'stands')
           or not %(counts_in_full)s)
 )
on conflict (fact_id, md5(content), md5(source_url), quote_state) do update
   set quote = excluded.quote, quote_start = excluded.quote_start, quote_end = excluded.quote_end,
       snapshot_hash = excluded.snapshot_hash, context = excluded.context,
       window_pieces = excluded.window_pieces, window_hash = excluded.window_hash, verdict = excluded.verdict,
       verdict_reason = excluded.verdict_reason, verdict_by = excluded.verdict_by, observed_at = excluded.observed_at,
       ground = excluded.ground
 where corroborations.ground <> 'stands'
returning id;

-- reopen_change
{{stale_change}};

-- forget_losses
-- It has its words again, in a text of its source that came later.
delete from lost_grounds
 where assertion_id = any(%(ids)s::uuid[]);

-- outdated
-- Of some facts those whose source took its words back: this address, and no other source bears them out.
select f.id::text as fact_id
  from facts f
 where f.id = any(%(fact_ids)s::uuid[])
   and f.status = 'superseded'
   and exists (
     select
       from assertions a
      where a.fact_id = f.id
        and a.source_url = %(source_url)s
        and a.ground = 'source changed'
   );

-- supersede
update facts
   set superseded_by = %(fact_id)s
 where id = any(%(fact_ids)s::uuid[])
   and id <> %(fact_id)s
   and status = 'superseded';

-- note_contradictions
-- Statements that were set against a fact, each once; the ids among them are links too. The first 80 are enough.
update facts f
   set contradictions = (f.contradictions::jsonb || addition.statements)::json
  from (
    select jsonb_agg(statement order by n) as statements
      from (
        select statement, n
          from jsonb_array_elements(%(contradictions)s::jsonb) with ordinality as claimed (statement, n)
         where not (select contradictions::jsonb from facts where id = %(fact_id)s) @> jsonb_build_array(statement)
         order by n
         limit greatest(0, 80 - (select json_array_length(contradictions) from facts where id = %(fact_id)s))
      ) as first
  ) as addition
 where f.id = %(fact_id)s
   and addition.statements is not null;

-- doubted
-- Facts whose own quote does not bear them out in full: another source's words do not mend theirs.
select id::text as fact_id
  from facts
 where id = any(%(fact_ids)s::uuid[])
   and verdict in ('partly', 'contradicted', 'silent')
   and content <> %(content)s;

-- joined
select status, confidence, topic_path, run_id
  from facts
 where id = %(fact_id)s;
