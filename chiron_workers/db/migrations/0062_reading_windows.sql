-- What a reader of the source sees around a quote, as the judge saw it: pieces of the snapshot, each a kind, a start and an end,
-- and the sha256 of their words (hex). Null where a version before stored the fact; then it is found in the snapshot when it is asked
-- for.
alter table facts add column window_pieces jsonb, add column window_hash text;
alter table corroborations add column window_pieces jsonb, add column window_hash text;

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by, f.observed_at, f.valid_from, f.valid_until, f.ground, f.claimed_score, f.source_kind, f.checked_run_id,
       f.window_pieces, f.window_hash
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by, c.observed_at, c.valid_from, c.valid_until, c.ground, c.claimed_score, c.source_kind, c.checked_run_id,
       c.window_pieces, c.window_hash
  from corroborations c;
