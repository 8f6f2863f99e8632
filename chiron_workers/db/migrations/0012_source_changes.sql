-- What became of sources after they were read, and what is needed to tell what changed between two moments.

-- An address gave another text, none any more, or one again. One row for each change, however many runs met it.
create table source_changes (
  id uuid primary key,
  url text not null,
  kind text not null constraint source_changes_kind_is_known check (kind in ('changed', 'gone', 'back')),
  fetch_id uuid not null references fetches on delete cascade,  -- the last one before the change
  hash_before text not null references snapshots,
  hash text references snapshots constraint source_changes_have_a_text_unless_gone check ((kind = 'gone') = (hash is null)),
  reason text not null default '',   -- the words of the failure
  facts int not null default 0,      -- that rest on what the address gave before
  agreement real constraint source_changes_agreement_is_a_share check (agreement between 0 and 1),
  run_id uuid references runs on delete set null,
  at timestamptz not null default now(),
  checked_at timestamptz             -- null until the facts were looked at
);
create index source_changes_url on source_changes (url, at desc, id desc);
-- Each text is followed by one change, or by its going away and its coming back.
create unique index source_changes_one_of_each on source_changes (fetch_id, (kind = 'gone'));
create index source_changes_run on source_changes (run_id) where run_id is not null;
create index source_changes_at on source_changes (at);

-- The assertions that their source no longer bears out: it is gone, or their quote does not stand there any more. An
-- assertion is a fact or a corroboration.
create table lost_grounds (
  change_id uuid not null references source_changes on delete cascade,
  assertion_id uuid not null,
  fact_id uuid not null references facts on delete cascade,
  primary key (change_id, assertion_id)
);
create index lost_grounds_fact on lost_grounds (fact_id);

-- For the parts of a file: its pages, rows or sheets.
create index fetches_files on fetches (url text_pattern_ops) where starts_with(url, 'file://');

create index fact_changes_at on fact_changes (at);
create index fact_links_at on fact_links (created_at);
create index corroborations_at on corroborations (created_at);

-- When what a time of a subscription has brought was held against the time before; anew after a retry.
alter table batches add column compared_at timestamptz;
update batches set compared_at = finished_at where subscription_id is not null and finished_at is not null;
create index batches_to_compare on batches (finished_at)
  where subscription_id is not null and finished_at is not null and (compared_at is null or compared_at < finished_at);
