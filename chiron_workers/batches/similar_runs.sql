-- similar
-- Costs of the latest completed runs of the same role and model, the basis of estimates: those of the same
-- subjects, and all. Where the model has a price, those are left out that ran without: their cost is not known.
with latest as materialized (
  select id, turns, spent_usd + unconfirmed_usd as usd, spent_tokens + unconfirmed_tokens as tokens,
         subject_id = any(%(subject_ids)s) as is_same_subject
    from runs
   where state = 'completed'
     and role = %(role)s
     and model = %(model)s
     and turns > 0
     and (unpriced_calls = 0 or not %(is_priced)s)
   order by id desc
   limit %(looked_at)s),
chosen as (
  (select *, true as of_subject
     from latest
    where is_same_subject
    order by id desc
    limit %(limit)s)
  union all
  (select *, false
     from latest
    order by id desc
    limit %(limit)s))
select of_subject,
       count(*)::int as runs,
       avg(turns)::float as turns,
       avg(usd) as usd,
       percentile_cont(0.9) within group (order by usd)::numeric as usd_of_dear,
       avg(tokens)::bigint as tokens,
       percentile_cont(0.9) within group (order by tokens)::bigint as tokens_of_dear
  from chosen
 group by of_subject
 order by of_subject desc;
