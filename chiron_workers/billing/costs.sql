-- run_use
-- Usage of a run, with the names that the sums of runs/usage.sql read.
r.model, r.subject_id, b.key_id, 1 as runs, r.input_tokens, r.cache_write_tokens, r.cache_read_tokens, r.output_tokens,
         r.unpriced_calls, r.unconfirmed_calls, r.spent_usd, r.unconfirmed_usd, r.services_usd, r.unpriced_services

-- is_of_key
case when %(key)s = %(no_key)s then key_id is null
              else key_id in (select id from access_keys where name = %(key)s) end

-- is_meant
(%(owner)s::text is null or b.owner = %(owner)s)
     and (%(model)s::text is null or r.model = %(model)s)
     and (%(subject_id)s::text is null or r.subject_id = %(subject_id)s)
     and (%(key)s::text is null or {{is_of_key}})

-- costs
-- Usage in a time: a row in all, and one for each day (UTC), model, subject and key, the dearest first. A run counts once,
-- with all that it has cost, when it ended or paused; one that is queued or runs counts now. What keys paid hosted services for
-- outside of runs belongs to no run, so nothing is counted twice; its model is the name of the service, and its subject null.
with counted as (
  select (r.finished_at at time zone 'utc')::date as day, {{run_use}}
    from runs r
    join batches b on b.id = r.batch_id
   where r.finished_at >= %(since)s
     and r.finished_at < %(until)s
     and {{is_meant}}
   union all
  select (open.at at time zone 'utc')::date, {{run_use}}
    from runs r
    join batches b on b.id = r.batch_id
    left join lateral ( -- the limit keeps it a look-up for each paused run
      select at
        from events
       where r.state = 'paused'
         and run_id = r.id
         and seq = r.seq
       limit 1) paused on true
   cross join lateral (
    select coalesce(paused.at, now()) as at) open
   where r.state in ('queued', 'running', 'paused')
     and (r.spent_tokens > 0 or r.spent_usd > 0 or r.unconfirmed_calls > 0)
     and open.at >= %(since)s
     and open.at < %(until)s
     and {{is_meant}}
   union all
  select (at at time zone 'utc')::date, service, null, key_id, 0, 0, 0, 0, 0, 0, 0, amount_usd, 0, amount_usd, 0
    from allotments
   where service is not null
     and at >= %(since)s
     and at < %(until)s
     and amount_usd > 0
     and %(subject_id)s::text is null
     and (%(owner)s::text is null or owner = %(owner)s)
     and (%(model)s::text is null or service = %(model)s)
     and (%(key)s::text is null or {{is_of_key}})),
parts as materialized (
  select day, model, subject_id, key_id, sum(runs) as runs, {{usage_parts}}
    from counted
   group by day, model, subject_id, key_id),
sums as (
  select case grouping(day, model, subject_id, key_id)
           when 7 then 'day'
           when 11 then 'model'
           when 13 then 'subject'
           when 14 then 'key'
           else 'total'
         end as part,
         day, model, subject_id, key_id,
         coalesce(sum(runs), 0)::int as runs,
         {{usage_sums}}
    from parts
   group by grouping sets ((), (day), (model), (subject_id), (key_id))),
ranked as (
  select *,
         row_number() over (partition by part order by spent_usd_min desc, runs desc, model, subject_id, key_id) as place,
         count(*) over (partition by part)::int as groups
    from sums)
select ranked.*, subjects.title,
       case part when 'model' then model
                 when 'subject' then ranked.subject_id
                 when 'key' then coalesce(k.name, case when key_id is null then %(no_key)s else key_id::text end)
       end as name
  from ranked
  left join subjects on subjects.id = ranked.subject_id
  left join access_keys k on k.id = ranked.key_id
 where part in ('day', 'total')
    or place <= %(groups_max)s
 order by part, place;
