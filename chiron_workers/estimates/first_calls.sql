-- title
select title
  from subjects
 where id = %(subject_id)s;
