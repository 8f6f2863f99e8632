-- Reading the web: what a run may reach, pages that a batch shares, and manners towards hosts.

-- Runs that have read private files. They fetch only addresses that a search or a person gave them.
create table private_runs (
  run_id uuid primary key references runs on delete cascade,
  at timestamptz not null default now()
);

-- The addresses that searches gave to a run, in their canonical form.
create table given_addresses (
  run_id uuid not null references runs on delete cascade,
  url text not null,
  primary key (run_id, url)
);

-- A page that the runs of a batch share: claimed by the call that fetches it, then with its text or what went wrong.
create table shared_pages (
  batch_id uuid not null references batches on delete cascade,
  url text not null,
  claimed_by uuid,                   -- the run that fetches it; no key, since only a run that is played counts
  call_id text,
  claimed_until timestamptz,
  hash text references snapshots,    -- null while it is fetched, or if that failed
  found_url text,                    -- where the redirects ended
  error text,
  good_until timestamptz,            -- until when text or error stand
  primary key (batch_id, url)
);

-- When a host may be asked again: each request takes the next free moment.
create table hosts (
  host text primary key,
  next_at timestamptz not null
);

-- What a site's robots.txt says. `body` is its text (zstd), null where there is none; `refusal` says why nothing may
-- be fetched.
create table robots (
  origin text primary key,
  body bytea,
  refusal text,
  good_until timestamptz not null
);
