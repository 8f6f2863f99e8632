-- Batches, runs and the journal. The row in `runs` is the truth; a Celery message is a doorbell.

create table subjects (
  id text primary key constraint subjects_id_is_a_slug check (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(id) <= 100),
  title text not null,
  purpose_statement text,
  target_depth text not null default 'practical',
  created_at timestamptz not null default now()
);

create table batches (
  id uuid primary key,
  name text not null,
  subject_id text not null references subjects,
  priority int not null default 0,
  budget_usd numeric(14, 6) constraint batches_budget_is_positive check (budget_usd > 0),
  spent_usd numeric(14, 6) not null default 0,
  run_count int not null,
  open_runs int not null constraint batches_open_runs_is_a_count check (open_runs >= 0),
  idempotency_key text unique,
  request_hash text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz
) with (fillfactor = 70);

create table runs (
  id uuid primary key,
  batch_id uuid not null references batches on delete cascade,
  role text not null,
  subject_id text not null references subjects,
  topic text not null,
  model text not null,
  priority int not null default 0,
  state text not null default 'queued' constraint runs_state_is_known
    check (state in ('queued', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  -- The number of takings. Every write of a worker names its lease, so that a worker
  -- presumed dead cannot write over the one that replaced it.
  lease int not null default 0,
  leased_until timestamptz,
  worker text,
  attempt int not null default 0,
  steps int not null default 0,
  steps_at_claim int not null default 0,
  wanted text constraint runs_wanted_is_known check (wanted in ('pause', 'cancel')),
  constraint runs_wanted_is_for_a_holder check (wanted is null or state = 'running'),
  unread int not null default 0,
  seq int not null default 0,
  entries int not null default 0,
  turns int not null default 0,
  max_turns int not null,
  facts int not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  spent_usd numeric(14, 6) not null default 0,
  error json,
  answer text,
  ready_at timestamptz not null default now(),
  rung_at timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
) with (fillfactor = 70);
-- leased_until has no index on purpose: indexed, no renewal could be a HOT update.
create index runs_next on runs (priority desc, id) where state = 'queued';
create index runs_running on runs (id) where state = 'running';
create index runs_batch on runs (batch_id, id);

create table entries (
  run_id uuid not null references runs on delete cascade,
  n int not null,
  kind text not null constraint entries_kind_is_known check (kind in ('opening', 'question', 'reply')),
  epoch int not null default 1,
  lease int not null,
  body json not null,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  cache_write_tokens int not null default 0,
  cache_read_tokens int not null default 0,
  cost_usd numeric(14, 6),
  at timestamptz not null default now(),
  primary key (run_id, n)
);

create table tool_results (
  run_id uuid not null references runs on delete cascade,
  n int not null,  -- the entry that made the call; some servers give the same id to calls of different replies
  call_id text not null,
  name text not null,
  is_error boolean not null,
  body text not null,
  ms int not null,
  cost_usd numeric(14, 6) not null default 0,  -- of what the tool asked a model
  at timestamptz not null default now(),
primary key (run_id, n, call_id)
);

create table events (
  run_id uuid not null references runs on delete cascade,
  seq int not null,
  batch_id uuid not null,
  kind text not null constraint events_kind_is_known check (kind in (
    'run.queued', 'run.started', 'run.resumed', 'model.replied', 'tool.called', 'tool.returned', 'fact.stored',
    'node.saved', 'run.paused', 'run.handed_back', 'run.completed', 'run.failed', 'run.cancelled',
    'batch.completed', 'budget.reached')),
  at timestamptz not null default clock_timestamp(),
  data json not null,
  primary key (run_id, seq)
);

-- Messages to a run, until its next user entry takes them.
create table inbox (
  id uuid primary key,
  run_id uuid not null references runs on delete cascade,
  text text not null,
  at timestamptz not null default now(),
  taken_in int
);
create index inbox_unread on inbox (run_id, id) where taken_in is null;
