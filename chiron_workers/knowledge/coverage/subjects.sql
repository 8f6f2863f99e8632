-- ensure
insert into subjects (id, title) values (%(subject_id)s, %(title)s)
on conflict (id) do nothing;

-- get
select id as subject_id, title, purpose_statement, target_depth
  from subjects
 where id = %(subject_id)s;

-- list
select id as subject_id, title, purpose_statement, target_depth
  from subjects
 order by id
 limit %(limit)s;

-- save_goal
insert into subjects (id, title, purpose_statement, target_depth)
values (%(subject_id)s, %(title)s, %(purpose_statement)s, %(target_depth)s)
on conflict (id) do update
  set purpose_statement = excluded.purpose_statement, target_depth = excluded.target_depth
returning id as subject_id, title, purpose_statement, target_depth;

-- active
select subject_id
  from active_subjects
 where owner = %(owner)s;

-- activate
insert into active_subjects (owner, subject_id) values (%(owner)s, %(subject_id)s)
on conflict (owner) do update set subject_id = excluded.subject_id, at = now();
