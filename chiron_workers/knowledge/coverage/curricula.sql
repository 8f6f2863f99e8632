-- mapped
update subjects set mapped_at = now() where id = %(subject_id)s;

-- is_mapped
select 1
  from subjects
 where id = %(subject_id)s
   and mapped_at is not null;
