-- Questions that are written from facts, quizzes that ask them, marks of the answers, and when each is to be asked again.

create table questions (
  id uuid primary key,
  node_id uuid not null references nodes on delete cascade,
  subject_id text not null references subjects,
  kind text not null constraint questions_kind_is_known check (kind in ('recall', 'application', 'transfer')),
  text text not null,
  key text not null,
  statement text not null,              -- says the key as a sentence, which the facts bear out
  fact_ids uuid[] not null constraint questions_rest_on_facts check (cardinality(fact_ids) > 0),
  question_hash text not null,
  run_id uuid references runs on delete set null,
  handed_in_at timestamptz,             -- nobody is asked it before
  created_at timestamptz not null default now(),
  constraint questions_are_asked_once_of_a_node unique (node_id, question_hash)
);
create index questions_of_a_subject on questions (subject_id, node_id, id) where handed_in_at is not null;
create index questions_run on questions (run_id) where run_id is not null;

-- `position` counts the questions that are behind the learner, in the order of `question_ids`.
create table quizzes (
  id uuid primary key,
  learner text not null,
  subject_id text not null references subjects,
  node_id uuid references nodes on delete cascade,
  question_ids uuid[] not null,
  position int not null default 0
    constraint quizzes_position_is_within check (position between 0 and cardinality(question_ids)),
  created_at timestamptz not null default now()
) with (fillfactor = 80);
create unique index quizzes_open_once on quizzes (learner, subject_id, coalesce(node_id, '00000000-0000-0000-0000-000000000000'))
  where position < cardinality(question_ids);

-- `correct` says what a row of the version before says; where there is a mark, that counts. `marked_by` is null while nobody
-- has marked the answer.
alter table assessments
  add column quiz_id uuid references quizzes on delete set null,
  add column question_id uuid references questions on delete set null,
  add column mark text constraint assessments_mark_is_known check (mark in ('right', 'wrong', 'doubtful')),
  add column marked_by text constraint assessments_marked_by_is_known check (marked_by in ('rule', 'model', 'learner')),
  add column reason text not null default '';
create unique index assessments_count_once on assessments (quiz_id, question_id) where quiz_id is not null;
create index assessments_of_a_question on assessments (question_id) where question_id is not null;

-- The state of a card as FSRS has it.
create table review_cards (
  learner text not null,
  node_id uuid not null references nodes on delete cascade,
  question_hash text not null,
  state int not null,
  step int,
  stability float8,
  difficulty float8,
  due_at timestamptz not null,
  last_review_at timestamptz not null,
  primary key (learner, node_id, question_hash)
) with (fillfactor = 80);
