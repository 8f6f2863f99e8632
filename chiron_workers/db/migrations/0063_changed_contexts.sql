-- A quote that its source still has, among other words: a banner above it says now that the page was retracted, a sentence below
-- that the figure was wrong. Workers of the version before take each `ground` but 'stands' for a lost one, and supersede the fact. So
-- `ground` stays 'stands', and `has_new_context` says that the fact is in doubt; `shown_ground` is what is shown. They write none of
-- this, and what they look at is noticed with the next change of the page.
alter table facts drop constraint facts_ground_is_known;
alter table facts
  add constraint facts_ground_is_known check (
    ground in ('stands', 'context changed', 'source changed', 'source gone', 'source retracted')),
  add column has_new_context boolean not null default false;

alter table corroborations drop constraint corroborations_ground_is_known;
alter table corroborations
  add constraint corroborations_ground_is_known check (
    ground in ('stands', 'context changed', 'source changed', 'source gone', 'source retracted')),
  add column has_new_context boolean not null default false;

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by, f.observed_at, f.valid_from, f.valid_until, f.ground, f.claimed_score, f.source_kind, f.checked_run_id,
       f.window_pieces, f.window_hash, f.has_new_context,
       case when f.ground = 'stands' and f.has_new_context then 'context changed' else f.ground end as shown_ground
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by, c.observed_at, c.valid_from, c.valid_until, c.ground, c.claimed_score, c.source_kind, c.checked_run_id,
       c.window_pieces, c.window_hash, c.has_new_context,
       case when c.ground = 'stands' and c.has_new_context then 'context changed' else c.ground end
  from corroborations c;

-- Where the quote of an assertion stands in the newest text of its source, if the words around it are others than in the text
-- that the assertion rests on.
create table changed_contexts (
  assertion_id uuid primary key,
  fact_id uuid not null references facts on delete cascade,
  url text not null,
  hash text not null references snapshots,  -- the newest text
  quote_start int not null,
  quote_end int not null,
  window_pieces jsonb not null,
  difference text not null,                 -- sha256 (hex) of the words that are new or gone: harmless changes leave it
  words text not null,                      -- those words, for readers of the fact
  is_current boolean not null default true, -- false: the words are again what they were, and the fact is to show it
  at timestamptz not null default now(),
  -- What a model said of the statement among these words, and what the assertion had before.
  judged_difference text,
  judged_verdict text,
  verdict_before text,
  verdict_reason_before text,
  verdict_by_before text
);
create index changed_contexts_fact on changed_contexts (fact_id);
create index changed_contexts_url on changed_contexts (url);
create index changed_contexts_hash on changed_contexts (hash);
