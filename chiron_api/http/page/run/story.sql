-- events
-- The newest events up to a number, newest first.
select seq, kind, at, data
  from events
 where run_id = %(run_id)s
   and seq < %(before)s
   and seq > %(after)s
 order by seq desc
 limit %(limit)s;

-- begun
-- How calls began that end after a number.
select seq, data
  from events
 where run_id = %(run_id)s
   and seq <= %(after)s
   and kind = 'tool.called'
   and data ->> 'call_id' = any(%(call_ids)s)
 order by seq;

-- results
-- What calls came to: the beginning of each, since a page may be long, and how many sources or facts a search gave.
select call_id, left(body, %(chars)s) as body,
       case when name in ('web_search', 'vector_search') then regexp_count(body, '\{"(url|id)": ') end as hits
  from tool_results
 where run_id = %(run_id)s
   and call_id = any(%(call_ids)s);

-- call
select r.n, r.call_id, r.name, r.is_error, left(r.body, %(chars)s) as body, length(r.body) as chars, r.ms, r.at,
       (select block -> 'input'
          from json_array_elements(e.body -> 'content') block
         where block ->> 'id' = r.call_id
         limit 1) as arguments
  from tool_results r
  join entries e on e.run_id = r.run_id and e.n = r.n
 where r.run_id = %(run_id)s
   and r.call_id = %(call_id)s
 order by r.n desc
 limit 1;

-- result
select coalesce(whole, body) as result
  from tool_results
 where run_id = %(run_id)s
   and call_id = %(call_id)s
 order by n desc
 limit 1;

-- facts
select id, run_id, call_id, content, quote, source_url, confidence, status, created_at
  from facts
 where run_id = %(run_id)s
   and id = any(%(fact_ids)s);
