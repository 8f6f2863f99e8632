-- Which run researches which node of a coverage map, and what the node gained by it.
create table node_research (
  id uuid primary key,
  subject_id text not null references subjects,
  node_id uuid not null references nodes,
  owner text not null,
  round_key text not null,              -- of the batch that it belongs to; its rows in order of id are the batch's topics
  request jsonb not null,               -- with what the batch is submitted, so that a crash before that loses nothing
  run_id uuid references runs on delete set null,
  submitted_at timestamptz,             -- when its run was named; without a run since, that was deleted
  facts_before int not null,
  facts_after int,                      -- when its run was over
  settled_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index node_research_open_once on node_research (node_id) where settled_at is null;
create index node_research_of_a_node on node_research (node_id, id);
create index node_research_of_a_run on node_research (run_id) where run_id is not null;

-- When two researches in turn gained it nothing.
alter table nodes add column exhausted_at timestamptz;
