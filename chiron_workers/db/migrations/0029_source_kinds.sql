-- What kind of source an assertion has, and the score that its agent gave it; `source_score` is that score within the band of the
-- kind. Workers of the version before write neither: such a row is bound when it is counted, and stored so by `chiron recompute`.
alter table facts
  add column claimed_score real constraint facts_claimed_score_is_a_share check (claimed_score between 0 and 1),
  add column source_kind text constraint facts_source_kind_is_known check (
    source_kind in ('academic', 'official', 'expert', 'general', 'user-generated', 'own', 'unknown'));

alter table corroborations
  add column claimed_score real constraint corroborations_claimed_score_is_a_share check (claimed_score between 0 and 1),
  add column source_kind text constraint corroborations_source_kind_is_known check (
    source_kind in ('academic', 'official', 'expert', 'general', 'user-generated', 'own', 'unknown'));

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by, f.observed_at, f.valid_from, f.valid_until, f.ground, f.claimed_score, f.source_kind
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by, c.observed_at, c.valid_from, c.valid_until, c.ground, c.claimed_score, c.source_kind
  from corroborations c;
