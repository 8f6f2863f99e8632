-- What is learnt: sources, facts, the coverage map and the learners' answers.

create extension if not exists vector;

create table snapshots (
  hash text primary key,             -- sha256 of the text, hex
  body bytea not null,               -- zstd of the UTF-8 text
  chars int not null,
  content_type text not null,
  created_at timestamptz not null default now()
);
alter table snapshots alter column body set storage external;

-- One row for each time an address gave a text.
create table fetches (
  id uuid primary key,
  url text not null,
  hash text not null references snapshots,
  run_id uuid references runs on delete set null,
  title text not null default '',
  author text not null default '',
  published_at timestamptz,
  fetched_at timestamptz not null default now()
);
create index fetches_url on fetches (url, fetched_at desc);

-- Documents of one's own: the corpus.
create table documents (
  id uuid primary key,
  subject_id text not null references subjects on delete cascade,
  url text not null,
  title text not null,
  hash text not null references snapshots,
  passages int not null,             -- how many it was cut into, for the rarity of words
  added_at timestamptz not null default now(),
  constraint documents_url_is_unique_in_a_subject unique (subject_id, url)
);

-- A passage is what the corpus search ranks: a section of a document.
create table passages (
  document_id uuid not null references documents on delete cascade,
  n int not null,
  subject_id text not null,
  heading text not null,
  body text not null,
  tsv tsvector not null,
  primary key (document_id, n)
);
create extension if not exists btree_gin;
create index passages_search on passages using gin (subject_id, tsv);

create table facts (
  id uuid primary key,
  subject_id text not null references subjects,
  content text not null,
  quote text,
  source_url text not null,
  source_score real not null constraint facts_source_score_is_a_share check (source_score between 0 and 1),
  topic_path text not null,
  confidence real not null constraint facts_confidence_is_a_share check (confidence between 0 and 1),
  status text not null constraint facts_status_is_known check (status in ('accepted', 'candidate', 'withdrawn')),
  contradictions json not null default '[]',
  snapshot_hash text references snapshots,
  run_id uuid references runs on delete set null,
  call_id text,
  validated_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create unique index facts_one_of_each on facts (subject_id, md5(content), md5(source_url));
create index facts_run on facts (run_id);
create index facts_newest on facts (subject_id, created_at desc);

-- What the confidence and status of a fact were before each change; nothing else of a fact ever changes.
create table fact_changes (
  id uuid primary key,
  fact_id uuid not null references facts on delete cascade,
  confidence real not null,
  status text not null,
  run_id uuid references runs on delete set null,
  call_id text,
  at timestamptz not null default now()
);
create index fact_changes_of_a_fact on fact_changes (fact_id, id);

-- One row for each kind of vector; the vectors themselves are in the table it names, created when first used.
create table embedding_spaces (
  id int generated always as identity primary key,
  model text not null,
  hash text not null,
  dimensions int not null constraint embedding_spaces_fit_the_index check (dimensions between 1 and 1024),
  table_name text not null generated always as ('vectors_' || id::text) stored,
  constraint embedding_spaces_are_unique unique (model, hash, dimensions)
);

create table nodes (
  id uuid primary key,
  subject_id text not null references subjects,
  title text not null,
  description text not null,
  parent_id uuid references nodes,
  depth int not null default 0 constraint nodes_depth_is_a_count check (depth >= 0),
  is_goal_critical boolean not null default false,
  prerequisites uuid[] not null default '{}',
  shared_with_subjects text[] not null default '{}',
  run_id uuid references runs on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index nodes_title_is_unique_below_a_parent
  on nodes (subject_id, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'), lower(title));
create index nodes_children on nodes (parent_id, id);
create index nodes_shared on nodes using gin (shared_with_subjects);

create table assessments (
  id uuid primary key,
  learner text not null,
  node_id uuid not null references nodes on delete cascade,
  question_hash text not null,
  response text not null,
  correct boolean not null,
  lesson_id text,
  run_id uuid references runs on delete set null,
  at timestamptz not null default now()
);
create index assessments_of_a_learner on assessments (learner, node_id, id);

create table active_subjects (
  owner text primary key,
  subject_id text not null references subjects on delete cascade,
  at timestamptz not null default now()
);
