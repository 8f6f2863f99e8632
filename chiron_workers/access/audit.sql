-- insert
-- The transaction that did it may have added the entry; a later one may know better what was made.
insert into audit as entry (id, owner, key_id, key_name, action, target, detail)
values (%(id)s, %(owner)s, %(key_id)s, %(key_name)s, %(action)s, %(target)s, %(detail)s)
    on conflict (id) do update
       set target = coalesce(nullif(entry.target, ''), excluded.target), detail = entry.detail || excluded.detail
     where entry.target = '' and excluded.target <> ''
        or not entry.detail @> excluded.detail;

-- has_trail
-- A schema of an early version has none.
select to_regclass('audit') is not null as has_trail;

-- newest
select id, at, owner, key_name, action, target, detail
  from audit
 where (%(before)s::uuid is null or id < %(before)s)
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;

-- prune
delete from audit
 where id < %(before)s;

-- count
select count(*) as entries
  from audit
 where id < %(before)s;
