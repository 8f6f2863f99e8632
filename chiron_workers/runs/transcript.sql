-- page
-- The entries of all epochs after the n-th, each with the results of its calls.
select e.n, e.kind, e.epoch, e.at, e.body, e.cost_usd,
       coalesce((select json_agg(json_build_object('call_id', r.call_id, 'name', r.name, 'is_error', r.is_error,
                                                   'body', r.body, 'at', r.at)
                                 order by r.at, r.call_id)
                   from tool_results r
                  where r.run_id = e.run_id
                    and r.n = e.n), '[]') as results
  from entries e
 where e.run_id = %(run_id)s
   and e.n > %(after)s
 order by e.n
 limit %(limit)s;
