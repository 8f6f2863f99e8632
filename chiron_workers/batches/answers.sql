-- columns
id, batch_id, topic, role, subject_id, state, answer, silent, error, facts, confirmed, finished_at,
       {{usage}}

-- page
-- A run has a page of its own; the index (batch_id, id) finds each page of a batch at once.
select {{columns}}
  from runs
 where id = %(id)s
   and %(after)s::uuid is null
union all
(select {{columns}}
   from runs
  where batch_id = %(id)s
    and id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
  order by id
  limit %(limit)s);
