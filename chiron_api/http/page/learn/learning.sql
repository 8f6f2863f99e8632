-- under_way
select id
  from batches
 where subject_id = %(subject_id)s
   and open_runs > 0
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;
