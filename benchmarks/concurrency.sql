-- turns
select e.run_id::text, extract(epoch from e.at)::float from entries e join runs r on r.id = e.run_id
 where r.batch_id = %(batch_id)s and e.kind = 'reply';

-- states
select state, count(*) from runs where batch_id = %(batch_id)s group by state;

-- failed_calls
select t.name, count(*), min(t.body::text)
  from tool_results t
  join runs r on r.id = t.run_id
 where t.is_error
 group by t.name;
