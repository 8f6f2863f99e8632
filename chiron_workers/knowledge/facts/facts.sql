-- state
select status
  from facts
 where id = %(fact_id)s;

-- subject_of
select subject_id
  from facts
 where id = any(%(fact_ids)s::uuid[])
 limit 1;

-- subjects_of
select id::text as fact_id, subject_id, content
  from facts
 where id = any(%(fact_ids)s::uuid[]);

-- best_of_runs
-- The most confident fact of each run of a batch, new or known before, in the order of the runs.
select distinct on (r.id) r.topic, f.content, f.quote, f.source_url, f.confidence
  from runs r
  join run_facts m on m.run_id = r.id and m.how in ('stored', 'confirmed', 'cited')
  join facts f on f.id = m.fact_id
 where r.batch_id = %(batch_id)s
   and f.status in ('accepted', 'disputed')
 order by r.id, f.confidence desc, f.id
 limit %(limit)s;
