-- like
-- What the latest completed runs of the same role and model have cost, by which the next ones are judged. Where the model has
-- a price, those are left out that ran without: their cost is not known.
select count(*) as runs,
       avg(spent_usd) as usd,
       percentile_cont(0.9) within group (order by spent_usd)::numeric as usd_of_dear,
       avg(turns)::float as turns,
       avg(spent_tokens)::bigint as tokens
  from (select spent_usd, turns, spent_tokens
          from runs
         where state = 'completed'
           and role = %(role)s
           and model = %(model)s
           and turns > 0
           and (unpriced_calls = 0 or not %(is_priced)s)
         order by id desc
         limit %(limit)s) latest;
