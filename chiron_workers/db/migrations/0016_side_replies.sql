-- What a model answered to a tool call that is not finished yet. It is paid for with this row, and a call that is made
-- again after a crash reads it here. The call's result takes the row's place: few rows are here at any time, so the table
-- has no partitions.
create table side_replies (
  run_id uuid not null references runs on delete cascade,
  n int not null,  -- the entry that made the call
  call_id text not null,
  question text not null,  -- a hash of what the model was asked
  repeat int not null,  -- counts, from 1, how often the call has asked the same
  lease int not null,
  body json not null,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  cache_write_tokens int not null default 0,
  cache_read_tokens int not null default 0,
  cost_usd numeric(14, 6),
  at timestamptz not null default now(),
  primary key (run_id, n, call_id, question, repeat)
);
