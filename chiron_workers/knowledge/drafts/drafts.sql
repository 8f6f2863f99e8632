-- hand_in
insert into drafts (run_id)
values (%(run_id)s)
    on conflict (run_id) do update set handed_in_at = now()
returning handed_in_at;

-- latest
select d.run_id, r.model, d.handed_in_at
  from drafts d
  join runs r on r.id = d.run_id
 where r.scope = %(scope)s
   and (%(owner)s::text is null or r.batch_id in (select id from batches where owner = %(owner)s))
 order by d.handed_in_at desc, d.run_id desc
 limit 1;

-- scope
select scope
  from runs
 where id = %(id)s
    or batch_id = %(id)s
 order by scope is null
 limit 1;
