-- of_runs
-- Under a lease a result is committed with its call, so a cell cannot cite a calculation that was not made.
select r.run_id, r.body
  from unnest(%(run_ids)s::uuid[]) as run (id)
 cross join lateral (
       select t.run_id, coalesce(t.whole, t.body) as body
         from tool_results t
        where t.run_id = run.id
          and t.name = %(name)s
          and not t.is_error
        order by t.n desc, t.at desc
        limit %(limit)s) as r;
