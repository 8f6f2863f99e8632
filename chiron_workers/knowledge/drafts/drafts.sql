-- hand_in
insert into drafts (run_id)
values (%(run_id)s)
    on conflict (run_id) do update set handed_in_at = now()
returning handed_in_at;
