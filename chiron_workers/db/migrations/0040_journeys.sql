-- Journeys of learners: where each stands on its way through a subject, what it has ordered there and what that cost.

create table journeys (
  id uuid primary key,
  learner text not null,
  key_id uuid,                          -- with which it was begun
  subject_id text not null references subjects,
  purpose text not null,
  depth text not null,
  model text not null,
  facts_min int not null,
  budget_usd numeric(14, 6) constraint journeys_budget_is_positive check (budget_usd > 0),
  needs_map boolean not null,           -- until the goal has one
  state text not null constraint journeys_state_is_known check (state in
    ('idle', 'initializing', 'researching', 'assessing', 'generating_lesson', 'delivering_lesson', 'exercising')),
  event text not null constraint journeys_event_is_known check (event in
    ('started', 'mapped', 'round_ended', 'researched', 'questions_written', 'lesson_written', 'lesson_stale', 'lesson_read',
     'quiz_finished', 'mastered', 'review_due', 'paused', 'run_failed', 'nothing_found', 'cancelled', 'resumed')),
  reason text not null default '',      -- of the event, in words
  held_state text constraint journeys_held_state_is_for_the_idle check (held_state is null or state = 'idle'),
  step int not null default 0,          -- counts the moves; each names the one it begins from, so that it happens once
  order_step int not null default 0,    -- the step whose orders count; their keys hold it
  ordered_at timestamptz,               -- when what this step needs was ordered
  node_id uuid references nodes on delete set null,
  quiz_id uuid references quizzes on delete set null,
  created_at timestamptz not null default now(),
  moved_at timestamptz not null default now(),
  constraint journeys_are_one_for_a_learner_and_a_subject unique (learner, subject_id)
) with (fillfactor = 80);
create index journeys_under_way on journeys (moved_at) where state <> 'idle' or event in ('mastered', 'paused');

create table journey_moves (
  journey_id uuid not null references journeys on delete cascade,
  step int not null,
  event text not null,
  state text not null,
  at timestamptz not null default now(),
  primary key (journey_id, step)
);

-- What a batch has cost stays here when it is pruned, so it is no foreign key.
create table journey_batches (
  journey_id uuid not null references journeys on delete cascade,
  batch_id uuid not null,
  order_step int not null,
  state text not null,
  is_own boolean not null,              -- of the learner; other batches are only waited for
  cost_usd numeric(14, 6) not null default 0,
  primary key (journey_id, batch_id)
);
create index journey_batches_of_a_step on journey_batches (journey_id, order_step);
