-- Research that recurs, runs that end without bothering anybody, and what was scored.

create table subscriptions (
  id uuid primary key,
  -- No key to subjects: a subscription whose subject is gone says so and pauses.
  subject_id text not null,
  topics text[] not null constraint subscriptions_have_topics check (cardinality(topics) > 0),
  role text not null,
  model text not null,
  cron text not null,
  time_zone text not null,
  budget_usd numeric(14, 6) constraint subscriptions_budget_is_positive check (budget_usd > 0),  -- of each time
  made_by text not null,
  run_id uuid references runs on delete set null,  -- that made it, if a run did
  fingerprint text not null,
  state text not null default 'active' constraint subscriptions_state_is_known check (state in ('active', 'paused', 'ended')),
  reason text not null default '',  -- of the pause, or of the latest time that was passed over or could not be started yet
  next_at timestamptz constraint subscriptions_active_ones_come_due check ((state = 'active') = (next_at is not null)),
  refused_since timestamptz,  -- when a worker first lacked what it takes to start what is due
  last_due_at timestamptz,
  times int not null default 0,
  times_skipped int not null default 0,
  ends_at timestamptz,
  created_at timestamptz not null default now()
);
create index subscriptions_due on subscriptions (next_at) where state = 'active';
create index subscriptions_of_a_subject on subscriptions (subject_id, id);
create index subscriptions_run on subscriptions (run_id) where run_id is not null;
create unique index subscriptions_one_of_each on subscriptions (fingerprint) where state <> 'ended';

-- No keys to subscriptions: what one has started outlives it, and still knows that nobody waits for it.
alter table batches add column subscription_id uuid, add column due_at timestamptz;
create index batches_of_a_subscription on batches (subscription_id, due_at) where subscription_id is not null;
alter table runs
  add column subscription_id uuid,
  add column since timestamptz,  -- when the subscription last looked into the topic
  add column found_before text,
  add column silent boolean not null default false;
create index runs_of_a_subscription on runs (subscription_id, id) where subscription_id is not null;

-- A result after which the run ends, and nobody is told more than that it did.
alter table tool_results add column ends_silently boolean not null default false;

create table evaluations (
  id uuid primary key,
  run_id uuid references runs on delete cascade,  -- with the text, which may hold anything
  call_id text,
  subject_id text,
  model text not null,
  question text not null,
  text text not null,
  scores json not null,  -- a list of {criterion, weight, score, reason, quote}
  overall real not null constraint evaluations_overall_is_on_the_scale check (overall between 1 and 5),
  at timestamptz not null default now()
);
create index evaluations_run on evaluations (run_id) where run_id is not null;
create index evaluations_of_a_subject on evaluations (subject_id, id) where subject_id is not null;
