-- Coverage maps that somebody drew up for a goal, and what research proposes to change in them.

alter table subjects add column mapped_at timestamptz;  -- when a curriculum was last handed in

-- A removed node keeps its row, so that its answers and proposals keep theirs; facts name topics, not nodes.
alter table nodes add column removed_at timestamptz, add column merged_into uuid references nodes;
-- A title may come again where a node was removed.
drop index nodes_title_is_unique_below_a_parent;
create unique index nodes_title_is_unique_below_a_parent
  on nodes (subject_id, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'), lower(title)) where removed_at is null;
create index nodes_merged on nodes (merged_into) where merged_into is not null;

-- `draft` is the node to add; `node_id` and `other_node_id` are the node and the prerequisite, or the one to merge it into.
create table node_proposals (
  id uuid primary key,
  subject_id text not null references subjects,
  kind text not null constraint node_proposals_kind_is_known check (kind in ('add', 'prerequisite', 'merge', 'remove')),
  node_id uuid references nodes,
  other_node_id uuid references nodes,
  draft jsonb,
  reason text not null,
  state text not null default 'open' constraint node_proposals_state_is_known check (state in ('open', 'accepted', 'rejected')),
  decision_reason text not null default '',
  decided_by text not null default '',  -- rules, a role, or an owner
  decided_at timestamptz,
  run_id uuid references runs on delete set null,
  created_at timestamptz not null default now(),
  constraint node_proposals_have_a_node check ((kind = 'add') = (draft is not null)),
  constraint node_proposals_of_two_nodes check ((kind in ('prerequisite', 'merge')) = (other_node_id is not null))
);
create index node_proposals_of_a_subject on node_proposals (subject_id, id);
create index node_proposals_of_a_run on node_proposals (run_id) where run_id is not null;
create unique index node_proposals_open_once on node_proposals (subject_id, kind,
  coalesce(node_id, '00000000-0000-0000-0000-000000000000'), coalesce(other_node_id, '00000000-0000-0000-0000-000000000000'),
  coalesce(lower(draft ->> 'title'), '')) where state = 'open';
