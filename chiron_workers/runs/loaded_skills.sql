-- read
select name, body, system_text
  from run_skills
 where run_id = %(run_id)s
 order by n;

-- names
select name
  from run_skills
 where run_id = %(run_id)s;

-- add
insert into run_skills (run_id, name, body, system_text)
values (%(run_id)s, %(name)s, %(body)s, %(system_text)s)
    on conflict do nothing
returning name;
