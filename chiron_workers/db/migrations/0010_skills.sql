-- The skills that runs have loaded, as they were then: what changes on a disk meanwhile is no business of theirs.
create table run_skills (
  run_id uuid not null references runs on delete cascade,
  name text not null,
  body text not null,         -- the instructions that the agent was given
  system_text text not null,  -- what the skill adds to the system prompt of later epochs
  n bigint generated always as identity,
  at timestamptz not null default now(),
  primary key (run_id, name)
);
