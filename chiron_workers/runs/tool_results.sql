-- read
-- Some servers give the same id to calls of different replies: the latest is the one the agent has seen last.
select substr(coalesce(whole, body), %(offset)s::int + 1, %(chars)s::int) as text,
       length(coalesce(whole, body)) as chars
  from tool_results
 where run_id = %(run_id)s
   and call_id = %(call_id)s
 order by n desc
 limit 1;
