-- Where owners want to hear of what happens, and what is on its way there.

-- `secret` is readable, since every delivery is signed with it. Endpoints are few, and their rows change often.
create table webhooks (
  id uuid primary key,
  owner text not null,
  url text not null,
  kinds text[] not null,
  format text not null constraint webhooks_format_is_known check (format in ('standard', 'slack', 'mail')),
  secret text not null,
  state text not null default 'active' constraint webhooks_state_is_known check (state in ('active', 'off')),
  reason text not null default '',      -- why it is off
  failing_since timestamptz,            -- the first failure after the last success
  claims int not null default 0,        -- fences what a worker says of a delivery
  claimed_until timestamptz,            -- by the worker that sends to it, or until it has rested from a failure
  created_at timestamptz not null default now()
) with (fillfactor = 70);
create index webhooks_of_an_owner on webhooks (owner, id);

-- The run and the batch are named in the payload; no keys, since a delivery outlives them.
create table deliveries (
  id uuid primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  kind text not null constraint deliveries_kind_is_known check (kind in (
    'run.completed', 'run.failed', 'run.cancelled', 'run.paused', 'batch.completed', 'budget.reached',
    'subscription.news', 'webhook.test')),
  payload json not null,
  state text not null default 'waiting' constraint deliveries_state_is_known
    check (state in ('waiting', 'delivered', 'failed')),
  tries int not null default 0,
  due_at timestamptz not null default now(),
  status int,                           -- of the last answer
  error text not null default '',
  created_at timestamptz not null default now(),
  finished_at timestamptz
) with (fillfactor = 70);
create index deliveries_waiting on deliveries (webhook_id, due_at, id) where state = 'waiting';
create index deliveries_of_a_webhook on deliveries (webhook_id, id);
