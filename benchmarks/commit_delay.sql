-- create_floor
create table if not exists floor (n int);

-- floor
insert into floor values (1);

-- commits
-- When the commit of each reply was written, by the run and the reply's place in it; Postgres takes the time just before
-- it flushes the commit to disk.
select split_part(r.topic, ' ', 1) as run, (row_number() over (partition by e.run_id order by e.n) - 1)::int as turn,
       extract(epoch from pg_xact_commit_timestamp(e.xmin))::float8 as at
  from entries e
  join runs r on r.id = e.run_id
 where r.batch_id = %(batch_id)s
   and e.kind = 'reply';
