-- Whether the sources of the subject are read again at each time.
alter table subscriptions add column recheck boolean not null default false;

-- Sources of a subject that a worker is to read again, and what came of it: `outcome`, or `error`.
create table rechecks (
  id uuid primary key,
  subject_id text not null references subjects on delete cascade,
  subscription_id uuid,              -- that ordered it; no key, since it outlives that
  created_at timestamptz not null default now(),
  claimed_until timestamptz,         -- by the worker that has it
  tries int not null default 0,
  finished_at timestamptz,
  outcome json,
  error text not null default ''
);
-- One at a time for each subject.
create unique index rechecks_open on rechecks (subject_id) where finished_at is null;
