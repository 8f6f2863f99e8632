-- read
select title, text
  from notes
 where run_id = %(run_id)s
 order by title;

-- lock
-- Calls of one reply run side by side: each sees what the others have written before it measures the room left.
select pg_advisory_xact_lock(hashtextextended('notes ' || %(run_id)s::text, 0));

-- size
select coalesce(sum(octet_length(title) + octet_length(text)), 0)::int as bytes
  from notes
 where run_id = %(run_id)s
   and title <> %(title)s;

-- write
insert into notes (run_id, title, text)
values (%(run_id)s, %(title)s, %(text)s)
    on conflict (run_id, title) do update set text = excluded.text, at = now();

-- remove
delete from notes
 where run_id = %(run_id)s
   and title = %(title)s
returning title;
