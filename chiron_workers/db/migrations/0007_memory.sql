-- Long runs: epochs, notes, and results that are too long to be shown at once.

-- What an agent writes down for itself. It outlives the epoch in which it was written.
create table notes (
  run_id uuid not null references runs on delete cascade,
  title text not null,
  text text not null,
  at timestamptz not null default now(),
  primary key (run_id, title)
);

alter table runs
  -- The epoch that the next entry belongs to. One that has no entries yet begins with nothing carried over.
  add column epoch int not null default 1,
  add column turns_before int not null default 0;  -- of attempts that were started over from scratch

alter table entries drop constraint entries_kind_is_known;
-- Not validated: what is there met the narrower check, and looking would hold up the workers.
alter table entries add constraint entries_kind_is_known check (kind in ('opening', 'question', 'folding', 'reply')) not valid;

-- The result as it was before it was cut; null where `body` is all of it.
alter table tool_results add column whole text;
