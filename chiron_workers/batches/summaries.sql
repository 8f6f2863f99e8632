-- newest
select id
  from batches
 where (%(before)s::uuid is null or id < %(before)s)
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;

-- summaries
select b.id, b.name, b.subject_id, sums.*, b.budget_usd, b.budget_tokens, b.concurrency,
       b.created_at, b.ready_at, b.finished_at,
       (select coalesce(json_agg(json_build_object('model', model, 'until', until, 'reason', reason)
                                 order by model), '[]')
          from holds
         where (until > now() or probed_by > now())
           and exists (select
                         from runs r
                        where r.batch_id = b.id
                          and r.model = holds.model
                          and r.state = 'queued')) as held,
       (select coalesce(json_agg(reasons order by runs desc, kind), '[]')
          from (select state, error ->> 'kind' as kind, min(error ->> 'message') as message, count(*) as runs,
                       coalesce((array_agg(error -> 'remedies' order by error ->> 'message'))[1], '[]') as remedies
                  from runs
                 where batch_id = b.id
                   and state in ('failed', 'paused')
                   and error is not null
                 group by 1, 2
                 order by runs desc, kind
                 limit %(reasons)s) reasons) as reasons
  from batches b
 cross join lateral (
   select coalesce(json_object_agg(state, n), '{}') as counts,
          {{progress_sums}},
          coalesce(sum(pruned), 0)::bigint as pruned,
          coalesce(sum(silent), 0)::bigint as silent
     from (select state,
                  count(*) as n,
                  {{progress_parts}},
                  count(pruned_at) as pruned,
                  count(*) filter (where silent) as silent
             from runs
            where batch_id = b.id
            group by state) by_state) sums
 where b.id = any(%(batch_ids)s)
 order by b.id desc;

-- run_columns
id, batch_id, number, role, subject_id, topic, context, model, state, attempt, turns, facts, confirmed, cited,
       {{nothing_found}} as nothing_found,
       {{usage}},
       budget_usd, budget_tokens, reserved_usd, error, answer, ready_at,
       started_at, finished_at, pruned_at, silent,
       (select json_build_object('model', h.model, 'until', until, 'reason', reason)
          from holds h
         where h.model = runs.model
           and (until > now() or probed_by > now())
           and state = 'queued') as held

-- run
select {{run_columns}},
       (select coalesce(json_agg(json_build_object('id', e.id,
                                                   'at', at,
                                                   'model', e.model,
                                                   'question', question,
                                                   'text', left(text, %(chars)s),
                                                   'text_chars', length(text),
                                                   'overall', round(overall::numeric, 2),
                                                   'scores', scores)
                                 order by at desc, e.id desc), '[]')
          from (select *
                  from evaluations
                 where run_id = %(run_id)s
                 order by at desc, id desc
                 limit %(evaluations)s) e) as evaluations
  from runs
 where id = %(run_id)s;

-- runs_of
select {{run_columns}}
  from runs
 where batch_id = %(batch_id)s
   and (not %(nothing_found)s or {{nothing_found}})
 order by id
 limit %(limit)s;

-- is_meant
-- Whether a run matches a filter and its reader may see it.
(%(batch_id)s::uuid is null or batch_id = %(batch_id)s)
   and (%(state)s::text is null or state = %(state)s)
   and (%(subject_id)s::text is null or subject_id = %(subject_id)s)
   and (%(model)s::text is null or model = %(model)s)
   and (%(first_id)s::uuid is null or id >= %(first_id)s)
   and (%(topic)s::text is null or position(lower(%(topic)s) in lower(topic)) > 0)
   and (%(nothing_found)s::boolean is null or {{nothing_found}} = %(nothing_found)s)
   and (coalesce(%(owner)s::text, %(owner_name)s) is null
        or exists (select
                     from batches b
                    where b.id = runs.batch_id
                      and (%(owner)s::text is null or b.owner = %(owner)s)
                      and (%(owner_name)s::text is null or b.owner = %(owner_name)s)))

-- newest_runs
select {{run_columns}}
  from runs
 where {{is_meant}}
   and (%(before)s::uuid is null or id < %(before)s)
 order by id desc
 limit %(limit)s;

-- count
select count(*) as runs
  from (select
          from runs
         where {{is_meant}}
         limit %(limit)s) counted;

-- what_is
select 'batch' as what, id
  from batches
 where id = %(id)s
union all
select 'run', id
  from runs
 where id = %(id)s;
