-- page
-- The rows of a run, or of all runs of a batch in the order of its topics.
with run as (
  select id, topic, subject_id
    from runs
   where id = %(id)s
  union
  select id, topic, subject_id
    from runs
   where batch_id = %(id)s
)
select a.id, a.run_id, run.topic, run.subject_id, a.n
  from answer_rows a
  join run on run.id = a.run_id
 where %(after)s::uuid is null
    or (a.run_id, a.n) > (select run_id, n from answer_rows where id = %(after)s)
 order by a.run_id, a.n
 limit %(limit)s;

-- cells
select c.run_id, c.n, c.place, c.value, c.fact_ids::text[] as fact_ids, c.reason, c.verdict_by
  from answer_cells c
  join unnest(%(run_ids)s::uuid[], %(numbers)s::int[]) as page (run_id, n) using (run_id, n)
 order by c.run_id, c.n, c.place;

-- successors
select id::text as fact_id, superseded_by::text as successor
  from facts
 where id = any(%(fact_ids)s::uuid[])
   and superseded_by is not null;

-- topics
-- The runs of a batch and how many rows each has handed in, in the order of its topics.
select r.id as run_id, r.topic, r.state, r.error::jsonb - 'remedies' as error,
       (select count(*)
          from answer_rows a
         where a.run_id = r.id) as rows
  from runs r
 where (r.batch_id = %(id)s or r.id = %(id)s)
   and (%(after)s::uuid is null or r.id > %(after)s)
 order by r.id
 limit %(limit)s;
