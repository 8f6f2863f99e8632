-- ending
select state, error from runs where id = %(run_id)s;
