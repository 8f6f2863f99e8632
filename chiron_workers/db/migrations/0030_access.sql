-- Keys, sessions and owners: who submitted what, and who did what.

-- A key itself is nowhere: `hash` is the SHA-256 of it.
create table access_keys (
  id uuid primary key,
  name text not null,
  owner text not null,
  scope text not null constraint access_keys_scope_is_known check (scope in ('read', 'submit', 'admin')),
  hash bytea not null unique,
  budget_usd numeric(14, 6) constraint access_keys_budget_is_positive check (budget_usd > 0),
  budget_period text constraint access_keys_budget_period_is_known check (budget_period in ('day', 'total')),
  constraint access_keys_budget_has_a_period check ((budget_usd is null) = (budget_period is null)),
  requests_per_minute int constraint access_keys_rate_is_positive check (requests_per_minute > 0),
  window_began_at timestamptz,
  window_requests int not null default 0,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 70);
create unique index access_keys_name on access_keys (name) where revoked_at is null;

-- What batches of a key have spent that are deleted since, by the day (UTC) on which they ended.
create table access_key_spending (
  key_id uuid not null references access_keys,
  day date not null,
  usd numeric(14, 6) not null,
  primary key (key_id, day)
);

-- A browser that is signed in. Without a key it acts for the local user.
create table access_sessions (
  hash bytea primary key,
  key_id uuid references access_keys on delete cascade,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now()
);

-- What a link holds that signs a browser in, once.
create table sign_in_codes (
  hash bytea primary key,
  key_id uuid references access_keys on delete cascade,
  expires_at timestamptz not null
);

-- What all servers of a database share, and nobody else has.
create table access_secrets (
  name text primary key,
  secret bytea not null
);

-- No keys to what an entry names: it outlives all of that.
create table audit (
  id uuid primary key,
  at timestamptz not null default now(),
  owner text not null,
  key_id uuid,
  key_name text,
  action text not null,
  target text not null default '',
  detail jsonb not null default '{}'
);

-- Workers of the version before write none of these: what they submit is the local user's.
alter table batches add column owner text not null default 'local', add column key_id uuid;
create index batches_of_an_owner on batches (owner, id);
create index batches_of_a_key on batches (key_id) where key_id is not null;
alter table subscriptions add column key_id uuid;
create index subscriptions_of_an_owner on subscriptions (made_by, id);
