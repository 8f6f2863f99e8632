-- mark_tainted
insert into private_runs (run_id) values (%(run_id)s)
on conflict do nothing;

-- is_tainted
select 1
  from private_runs
 where run_id = %(run_id)s;

-- allow
insert into given_addresses (run_id, url)
select %(run_id)s, url
  from unnest(%(urls)s::text[]) as given (url)
on conflict do nothing;

-- grounds
select exists (select from given_addresses where run_id = %(run_id)s and url = %(url)s) as by_search, topic,
       array(select text from inbox where run_id = %(run_id)s) as messages
  from runs
 where id = %(run_id)s;
