-- Which runs may be why their workers end. Runs that only were on such a worker lost attempts as if they were.

-- Ends of workers within the step that the run is at: with other runs on the worker that may be the cause, and with none. A step that
-- is committed makes both void (steps > steps_at_claim), and the next acquisition sets them to 0.
alter table runs
  add column shared_ends smallint not null default 0,
  add column sole_ends smallint not null default 0,
  add column suspected_at timestamptz;  -- since when it is a suspect, or its last sole end

-- As runs/suspects.sql says who is a suspect, but for the step: with `steps` no write of a turn could be a HOT update.
create index runs_suspects on runs (id) where state in ('queued', 'running') and (sole_ends > 0 or shared_ends >= 2);

-- The runs of a silent worker when the first of them was rescued: the others may be rescued in later transactions. A worker that ended
-- without a suspect shows that workers end for other reasons, too.
create table worker_ends (
  worker text primary key,
  runs int not null,
  suspects int not null,  -- of these
  at timestamptz not null default now()
);

-- Workers of the version before raise the number of the lease, and set neither token nor ends.
-- "or replace": a restore by a version that does not know this function drops the tables and leaves it behind.
create or replace function renew_lease_token() returns trigger language plpgsql as $$
begin
  new.token := gen_random_uuid();
  if old.steps > old.steps_at_claim then
    new.shared_ends := 0;
    new.sole_ends := 0;
  end if;
  return new;
end $$;
