-- Whether a quote bears its fact out, and what stands around it. Workers of the version before write neither: nobody was asked
-- about their facts.
alter table facts
  add column context text not null default '',
  add column verdict text not null default 'unchecked' constraint facts_verdict_is_known check (
    verdict in ('supported', 'partly', 'contradicted', 'silent', 'unchecked')),
  add column verdict_reason text not null default '',
  add column verdict_by text not null default '';  -- rules, or the name of a model

alter table corroborations
  add column context text not null default '',
  add column verdict text not null default 'unchecked' constraint corroborations_verdict_is_known check (
    verdict in ('supported', 'partly', 'contradicted', 'silent', 'unchecked')),
  add column verdict_reason text not null default '',
  add column verdict_by text not null default '';

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by
  from corroborations c;

-- What a model once said of a statement and its quote, so that it is asked once.
create table verdicts (
  evidence text primary key,         -- sha256 of statement, quote and context, hex
  verdict text not null
      constraint verdicts_verdict_is_known check (verdict in ('supported', 'partly', 'contradicted', 'silent')),
  reason text not null,
  model text not null,
  run_id uuid references runs on delete set null,
  created_at timestamptz not null default now()
);
create index verdicts_run on verdicts (run_id);
