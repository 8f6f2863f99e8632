-- result
id, batch_id, number, topic, context, role, subject_id, state, answer, silent, error::jsonb - 'remedies' as error, facts, confirmed, cited,
       {{nothing_found}} as nothing_found, finished_at,
       {{usage}}

-- page
-- A run has a page of its own; the index (batch_id, id) finds each page of a batch at once.
select {{result}}
  from runs
 where id = %(id)s
   and %(after)s::uuid is null
union all
(select {{result}}
   from runs
  where batch_id = %(id)s
    and id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
  order by id
  limit %(limit)s);

-- line_page
-- As `page`, but written as lines of JSON here: ten thousand rows cost those who only hand them on a tenth of a second.
select count(*) as rows,
       (array_agg(id order by id desc))[1] as last_id,
       string_agg(row_to_json(result)::text || E'\n', '' order by id) as lines
  from ({{page}}) result;

-- columns_asked_for
-- Of a batch, or of the batch of a run.
select coalesce((select b.columns
                   from batches b
                  where b.id = %(id)s),
                (select b.columns
                   from runs r
                   join batches b on b.id = r.batch_id
                  where r.id = %(id)s)) as columns,
       exists (select from batches where id = %(id)s)
       or exists (select from runs where id = %(id)s) as is_there;
