-- Lessons on the nodes of coverage maps. A run writes its sections as a draft; what it hands in is copied here and stays, also
-- as a former version, when the run is pruned.

create table lessons (
  id uuid primary key,
  subject_id text not null references subjects on delete cascade,
  node_id uuid not null references nodes on delete cascade,
  run_id uuid unique references runs on delete set null,
  title text not null,
  depth text not null,                  -- the subject's when it was ordered
  model text not null,
  state text not null default 'draft' constraint lessons_state_is_known check (state in ('draft', 'handed_in')),
  not_known text[] not null default '{}',
  created_at timestamptz not null default now(),
  handed_in_at timestamptz constraint lessons_have_a_time_once_handed_in check ((handed_in_at is null) = (state = 'draft'))
);
create index lessons_of_a_node on lessons (subject_id, node_id, id);

create table lesson_sections (
  lesson_id uuid not null references lessons on delete cascade,
  place int not null,
  title text not null,
  primary key (lesson_id, place)
);

create table lesson_sentences (
  lesson_id uuid not null,
  place int not null,
  n int not null,
  text text not null,
  fact_ids uuid[] not null constraint lesson_sentences_name_their_facts check (cardinality(fact_ids) > 0),
  fact_statuses text[] not null,        -- of the facts, in their order, when the lesson was handed in
  verdict_reason text not null,
  verdict_by text not null,             -- rules, or the name of a model
  primary key (lesson_id, place, n),
  foreign key (lesson_id, place) references lesson_sections on delete cascade,
  constraint lesson_sentences_have_a_status_for_each_fact check (cardinality(fact_statuses) = cardinality(fact_ids))
);
