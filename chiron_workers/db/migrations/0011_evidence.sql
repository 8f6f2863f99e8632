-- Evidence: what each fact rests on, how facts stand to each other, and why confidence changed.

-- A fact's own assertion: `quote` is what stands in the snapshot, extended to whole sentences, at these characters of it.
-- Workers of the version before store facts without these columns; such a fact counts as unverified.
alter table facts drop constraint facts_status_is_known;
alter table facts
  add constraint facts_status_is_known check (status in ('accepted', 'disputed', 'candidate', 'withdrawn')),
  add column claimed_confidence real constraint facts_claimed_confidence_is_a_share check (claimed_confidence between 0 and 1),
  add column quote_state text not null default 'unverified'
      constraint facts_quote_state_is_known check (quote_state in ('verified', 'unverified')),
  add column quote_start int,
  add column quote_end int,
  add constraint facts_verified_quotes_have_a_place
      check (quote_state = 'unverified' or (quote is not null and snapshot_hash is not null
             and quote_start is not null and quote_end > quote_start)) not valid;
create index facts_source on facts (md5(source_url));
create index facts_snapshot on facts (snapshot_hash);

-- The same claim again, from another source or in other words. The fact's own row is its first assertion.
create table corroborations (
  id uuid primary key,
  fact_id uuid not null references facts on delete cascade,
  content text not null,
  quote text,
  quote_state text not null constraint corroborations_quote_state_is_known check (quote_state in ('verified', 'unverified')),
  quote_start int,
  quote_end int,
  source_url text not null,
  source_score real not null constraint corroborations_source_score_is_a_share check (source_score between 0 and 1),
  claimed_confidence real not null
      constraint corroborations_claimed_confidence_is_a_share check (claimed_confidence between 0 and 1),
  snapshot_hash text references snapshots,
  run_id uuid references runs on delete set null,
  call_id text,
  created_at timestamptz not null default now(),
  constraint corroborations_verified_quotes_have_a_place
      check (quote_state = 'unverified' or (quote is not null and snapshot_hash is not null
             and quote_start is not null and quote_end > quote_start))
);
create unique index corroborations_one_of_each on corroborations (fact_id, md5(content), md5(source_url), quote_state);
create index corroborations_run on corroborations (run_id);
create index corroborations_source on corroborations (md5(source_url));
create index corroborations_snapshot on corroborations (snapshot_hash);

-- Every assertion of every fact, the fact's own first (its id is the fact's).
create view assertions as
select f.id, f.id as fact_id, f.content, f.quote, f.quote_state, f.quote_start, f.quote_end, f.source_url, f.source_score,
       f.claimed_confidence, f.snapshot_hash, f.run_id, f.call_id, f.created_at
  from facts f
union all
select c.id, c.fact_id, c.content, c.quote, c.quote_state, c.quote_start, c.quote_end, c.source_url, c.source_score,
       c.claimed_confidence, c.snapshot_hash, c.run_id, c.call_id, c.created_at
  from corroborations c;

-- How the later of two facts stands to the earlier one. `contradicts` counts both ways, `supports` and `qualifies` say what
-- `fact_id` does to `other_id`.
create table fact_links (
  fact_id uuid not null references facts on delete cascade,
  other_id uuid not null references facts on delete cascade,
  relation text not null constraint fact_links_relation_is_known check (relation in ('supports', 'contradicts', 'qualifies')),
  decided_by text not null constraint fact_links_decided_by_is_known check (decided_by in ('rules', 'model', 'agent')),
  reason text not null,
  run_id uuid references runs on delete set null,
  created_at timestamptz not null default now(),
  primary key (fact_id, other_id),
  constraint fact_links_join_two_facts check (fact_id <> other_id)
);
create index fact_links_other on fact_links (other_id);
create index fact_links_run on fact_links (run_id);

-- What a model once said of two statements, so that it is asked once.
create table judgements (
  pair text primary key,             -- sha256 of the two statements, hex
  relation text not null
      constraint judgements_relation_is_known check (relation in ('same', 'supports', 'contradicts', 'qualifies', 'new')),
  reason text not null,
  model text not null,
  run_id uuid references runs on delete set null,
  created_at timestamptz not null default now()
);
create index judgements_run on judgements (run_id);

-- Why a confidence or status changed; the row holds what they were before.
alter table fact_changes add column reason text not null default '';

-- Snapshots: the licence where a source names one, and the MinHash signature of the text once it was needed.
alter table fetches add column licence text not null default '';
alter table snapshots add column signature bytea;
