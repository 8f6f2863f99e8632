-- Two columns of runs get the names that the code uses: wanted becomes stop_requested, rung_at becomes dispatched_at.
-- Workers of the version before read and write the old ones, so both stay for one release, and a trigger keeps each pair equal.

alter table runs
  add column stop_requested text,
  add column dispatched_at timestamptz,
  -- Not validated: both columns are empty, and looking would hold up the workers. The next migration validates them.
  add constraint runs_stop_requested_is_known check (stop_requested in ('pause', 'cancel')) not valid,
  add constraint runs_stop_requested_is_for_a_holder check (stop_requested is null or state = 'running') not valid;

update runs
   set stop_requested = wanted,
       dispatched_at = rung_at
 where wanted is not null
    or rung_at is not null;

-- "or replace": a restore by a version that does not know this function drops the tables and leaves it behind.
create or replace function copy_renamed_run_columns() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.stop_requested := coalesce(new.stop_requested, new.wanted);
    new.dispatched_at := coalesce(new.dispatched_at, new.rung_at);
    new.wanted := new.stop_requested;
    new.rung_at := new.dispatched_at;
    return new;
  end if;
  if new.stop_requested is distinct from old.stop_requested then
    new.wanted := new.stop_requested;
  else
    new.stop_requested := new.wanted;
  end if;
  if new.dispatched_at is distinct from old.dispatched_at then
    new.rung_at := new.dispatched_at;
  else
    new.dispatched_at := new.rung_at;
  end if;
  return new;
end $$;

-- Journal entries and renewals name none of these columns, and so do not fire it.
create trigger runs_copy_renamed_columns
  before update of wanted, stop_requested, rung_at, dispatched_at on runs
  for each row execute function copy_renamed_run_columns();
create trigger runs_copy_renamed_columns_of_new_rows
  before insert on runs
  for each row
  when (new.wanted is not null or new.stop_requested is not null or new.rung_at is not null or new.dispatched_at is not null)
  execute function copy_renamed_run_columns();
