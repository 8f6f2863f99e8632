-- What private material a run has read, and what it has sent outside since: from both follows which words it may not send.

-- Either the whole result of a call of the run, or the text of a fact from private sources that a call showed.
create table private_texts (
  id uuid primary key,
  run_id uuid not null references runs on delete cascade,
  n int not null,
  call_id text not null,
  fact_id uuid,  -- no key, since the run has read it even if it is deleted
  text text      -- null: the result
);
create index private_texts_run on private_texts (run_id);

-- Messages that a run which has read private material sent outside; each is committed before it is sent.
create table outside_messages (
  id uuid primary key,
  run_id uuid not null references runs on delete cascade,
  call_id text not null,
  text text not null
);
create index outside_messages_run on outside_messages (run_id);
