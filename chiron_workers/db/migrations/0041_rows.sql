-- Answers in rows: a batch may have columns, and each of its runs then hands in rows, every cell with its facts or a reason why
-- it is empty.

alter table batches
  -- [{"name": ..., "type": ..., "description": ...}, ...]; null: its runs answer in words alone.
  add column columns json;

create table answer_rows (
  run_id uuid not null references runs on delete cascade,
  n int not null constraint answer_rows_number_is_a_count check (n > 0),
  id uuid not null unique,
  call_id text not null,             -- that handed it in last
  written_at timestamptz not null default now(),
  primary key (run_id, n)
);

create table answer_cells (
  run_id uuid not null,
  n int not null,
  place int not null constraint answer_cells_place_is_a_count check (place >= 0),  -- of the column
  value text,                        -- as its column's type writes it; null where the cell is empty
  fact_ids uuid[] not null default '{}',
  reason text not null default '',   -- why it is empty
  verdict_reason text not null default '',
  verdict_by text not null default '',  -- rules, or the name of a model
  primary key (run_id, n, place),
  foreign key (run_id, n) references answer_rows on delete cascade,
  constraint answer_cells_rest_on_facts_or_say_why_not
    check (case when value is null then cardinality(fact_ids) = 0 and reason <> ''
                else cardinality(fact_ids) > 0 and reason = '' end)
);
