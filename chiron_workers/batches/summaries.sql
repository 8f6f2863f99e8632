-- newest
select id
  from batches
 where %(before)s::uuid is null
    or id < %(before)s
 order by id desc
 limit %(limit)s;

-- summaries
select b.id, b.name, b.subject_id, sums.*, b.budget_usd, b.budget_tokens, b.concurrency,
       b.created_at, b.ready_at, b.finished_at,
       (select coalesce(json_agg(json_build_object('model', model, 'until', until, 'reason', reason)
                                 order by model), '[]')
          from holds
         where until > now()
           and exists (select
                         from runs r
                        where r.batch_id = b.id
                          and r.model = holds.model
                          and r.state = 'queued')) as held
  from batches b
 cross join lateral (
   select coalesce(json_object_agg(state, n), '{}') as counts,
          coalesce(sum(facts), 0)::bigint as facts,
          coalesce(sum(turns), 0)::bigint as turns,
          coalesce(sum(input_tokens), 0)::bigint as input_tokens,
          coalesce(sum(output_tokens), 0)::bigint as output_tokens,
          coalesce(sum(spent_usd), 0) as spent_usd,
          coalesce(sum(unconfirmed_usd), 0) as unconfirmed_usd,
          coalesce(sum(unconfirmed_calls), 0)::bigint as unconfirmed_calls,
          coalesce(sum(reserved_usd), 0) as reserved_usd,
          min(started_at) as started_at,
          coalesce(sum(pruned), 0)::bigint as pruned,
          coalesce(sum(silent), 0)::bigint as silent
     from (select state,
                  count(*) as n,
                  sum(facts) as facts,
                  sum(turns) as turns,
                  sum(input_tokens) as input_tokens,
                  sum(output_tokens) as output_tokens,
                  sum(spent_usd) as spent_usd,
                  sum(unconfirmed_usd) as unconfirmed_usd,
                  sum(unconfirmed_calls) as unconfirmed_calls,
                  sum(reserved_usd) as reserved_usd,
                  min(started_at) as started_at,
                  count(pruned_at) as pruned,
                  count(*) filter (where silent) as silent
             from runs
            where batch_id = b.id
            group by state) by_state) sums
 where b.id = any(%(batch_ids)s)
 order by b.id desc;

-- run_columns
id, batch_id, role, subject_id, topic, model, state, attempt, turns, facts, input_tokens, output_tokens,
       spent_usd, budget_usd, budget_tokens, unconfirmed_usd, unconfirmed_calls, reserved_usd, error, answer, ready_at,
       started_at, finished_at, pruned_at, silent,
       (select json_build_object('model', h.model, 'until', until, 'reason', reason)
          from holds h
         where h.model = runs.model
           and until > now()
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
 order by id
 limit %(limit)s;

-- what_is
select 'batch' as what, id
  from batches
 where id = %(id)s
union all
select 'run', id
  from runs
 where id = %(id)s;
