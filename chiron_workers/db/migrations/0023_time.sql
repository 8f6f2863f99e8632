-- When the source of a fact was read, and from when until when the fact is so, as far as its words say it: a year, a month or a
-- day ("2024", "2024-03", "2024-03-15"). Workers of the version before write none of these.
alter table facts
  add column observed_at timestamptz,
  add column valid_from text,
  add column valid_until text,
  add constraint facts_validity_is_dates check (
    coalesce(valid_from, '0001') ~ '^\d{4}(-\d\d(-\d\d)?)?$' and coalesce(valid_until, '0001') ~ '^\d{4}(-\d\d(-\d\d)?)?$') not valid;

alter table corroborations
  add column observed_at timestamptz,
  add column valid_from text,
  add column valid_until text,
  add constraint corroborations_validity_is_dates check (
    coalesce(valid_from, '0001') ~ '^\d{4}(-\d\d(-\d\d)?)?$' and coalesce(valid_until, '0001') ~ '^\d{4}(-\d\d(-\d\d)?)?$') not valid;

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by, f.observed_at, f.valid_from, f.valid_until
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by, c.observed_at, c.valid_from, c.valid_until
  from corroborations c;
