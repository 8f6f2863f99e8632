-- Written reports: drafts in sections, each sentence with the facts it rests on.

alter table runs
  -- Which facts a run works on: the id of a batch or a run, or a subject. Null: those of its own subject.
  add column scope text;
create index runs_scope on runs (scope) where scope is not null;

create table draft_sections (
  run_id uuid not null references runs on delete cascade,
  place int not null constraint draft_sections_place_is_a_count check (place >= 0),  -- 0: the summary
  title text not null,
  call_id text not null,             -- that wrote it last
  written_at timestamptz not null default now(),
  primary key (run_id, place)
);

create table draft_sentences (
  run_id uuid not null,
  place int not null,
  n int not null,
  text text not null,
  fact_ids uuid[] not null constraint draft_sentences_name_their_facts check (cardinality(fact_ids) > 0),
  verdict_reason text not null,
  verdict_by text not null,          -- rules, or the name of a model
  primary key (run_id, place, n),
  foreign key (run_id, place) references draft_sections on delete cascade
);

-- A draft that its run has handed in, and so is shown.
create table drafts (
  run_id uuid primary key references runs on delete cascade,
  handed_in_at timestamptz not null default now()
);
