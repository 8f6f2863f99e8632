-- What became of the words that facts rest on: whether each source still says them. A fact that no source bears out any more is
-- superseded. Workers of the version before write none of this; `chiron recompute` and the next look at a source make up for it.
alter table facts drop constraint facts_status_is_known;
alter table facts
  add constraint facts_status_is_known check (status in ('accepted', 'disputed', 'candidate', 'superseded', 'withdrawn')),
  add column ground text not null default 'stands' constraint facts_ground_is_known check (
    ground in ('stands', 'source changed', 'source gone', 'source retracted')),
  add column superseded_by uuid references facts on delete set null;  -- that the same source says instead, if it is known
create index facts_superseded_by on facts (superseded_by) where superseded_by is not null;

alter table corroborations
  add column ground text not null default 'stands' constraint corroborations_ground_is_known check (
    ground in ('stands', 'source changed', 'source gone', 'source retracted'));

create or replace view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at, f.context, f.verdict, f.verdict_reason,
       f.verdict_by, f.observed_at, f.valid_from, f.valid_until, f.ground
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at, c.context, c.verdict, c.verdict_reason,
       c.verdict_by, c.observed_at, c.valid_from, c.valid_until, c.ground
  from corroborations c;

-- The bytes that a text was read from (sha256, hex), and by which version of our readers: another text of the same bytes is no
-- change of the page. Null where it is not known.
alter table fetches add column raw_hash text, add column reader int;
alter table source_changes add column reread boolean not null default false;  -- the same bytes, read otherwise
create index lost_grounds_assertion on lost_grounds (assertion_id);

-- Addresses whose publication was retracted, and where that is said.
create table retracted_sources (
  url text primary key,
  doi text not null,
  notice text not null default '',   -- the DOI of the notice, if there is one
  said_by text not null,             -- crossref, openalex
  at timestamptz not null default now()
);
