-- restored: the trigger's name is ours, and when it fires comes from our migrations
drop trigger runs_copy_renamed_columns_of_new_rows on runs;
create trigger runs_copy_renamed_columns_of_new_rows before insert on runs
  for each row execute function copy_renamed_run_columns();
