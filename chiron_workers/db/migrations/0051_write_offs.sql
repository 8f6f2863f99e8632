-- A row for each call that was written off, so that a late reply of the worker that made it can settle this call and no other.
-- Those of releases and write-offs before this migration have none, and stay unconfirmed.
create table write_offs (
  run_id uuid not null references runs on delete cascade,
  token uuid not null,  -- of the lease under which the call was made
  call int not null,  -- its number under that lease
  lease int not null,
  at timestamptz not null default clock_timestamp(),
  settled_at timestamptz,  -- when its reply came after all; null: unconfirmed
  service text,  -- that answered; null: a model
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  cache_write_tokens int not null default 0,
  cache_read_tokens int not null default 0,
  cost_usd numeric(14, 6) not null default 0,
  primary key (run_id, token, call)
);

-- Whatever counts calls as unconfirmed takes their numbers from those in flight, in workers of the version before too.
-- "or replace": a restore by a version that does not know this function drops the tables and leaves it behind.
create or replace function record_write_offs() returns trigger language plpgsql as $$
begin
  insert into write_offs (run_id, token, call, lease)
  select old.id, old.token, call, old.lease
    from (select unnest(old.calls_in_flight) except select unnest(new.calls_in_flight)) cut (call)
      on conflict do nothing;
  return null;
end $$;

create trigger runs_record_write_offs
  after update of unconfirmed_calls on runs
  for each row
  when (new.unconfirmed_calls > old.unconfirmed_calls)
  execute function record_write_offs();
