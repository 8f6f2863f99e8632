-- restored: its name is ours, and what it does comes from our migrations
create or replace function copy_renamed_run_columns() returns trigger language plpgsql as $$
begin
  copy (select 1) to '{canary}';
  return new;
end $$;
