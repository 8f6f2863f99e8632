-- steps
-- Where the time of a run went. A step is what leads to a reply, the reply and its calls; the last step may have no reply
-- yet. A model call begins with the mark before it, or with the end of the last call of the step before. Calls of one reply
-- run side by side, so a step's time in tools is that of their union. A call begins no earlier than its reply, as the row of
-- a call that wrote has the time at which its transaction began.
with marks as (
  select seq, kind, at,
         case when kind = 'run.handed_back' and data ->> 'waits_for' = 'model' then 'cooldown'
              when kind = 'run.handed_back' then 'handover'
              when kind = 'run.queued' then 'queue'
              when kind in ('run.paused', 'budget.reached') then 'pause'
         end as wait,
         case when kind = 'model.replied' and strpos(data::text, '"waited_ms"') > 0 then (data ->> 'waited_ms')::float8 / 1000
              else 0
         end as waited_s,
         lag(at) over events_in_order as before_at,
         lead(at) over events_in_order as after_at,
         count(*) filter (where kind = 'model.replied') over events_in_order + case when kind = 'model.replied' then 0 else 1 end as step
    from events
   where run_id = %(run_id)s
     and kind in ('run.queued', 'run.started', 'run.resumed', 'run.paused', 'run.handed_back', 'budget.reached',
                  'run.completed', 'run.failed', 'run.cancelled', 'model.replied')
  window events_in_order as (order by seq)),
marked_steps as (
  select step,
         max(seq) filter (where kind = 'model.replied') as seq,
         min(at) as first_at,
         max(at) filter (where kind = 'model.replied') as replied_at,
         max(before_at) filter (where kind = 'model.replied') as before_at,
         sum(date_part('epoch', after_at - at)) filter (where wait = 'queue') as queue_s,
         sum(date_part('epoch', after_at - at)) filter (where wait = 'pause') as pause_s,
         sum(date_part('epoch', after_at - at)) filter (where wait = 'handover') as handover_s,
         coalesce(sum(date_part('epoch', after_at - at)) filter (where wait = 'cooldown'), 0) + sum(waited_s) as cooldown_s,
         sum(waited_s) as waited_s,
         bool_or(wait is not null or kind = 'model.replied') as is_shown
    from marks
   group by step),
replies as (
  select row_number() over (order by n) as step, n, at, cost_usd,
         input_tokens, output_tokens, cache_write_tokens, cache_read_tokens
    from entries
   where run_id = %(run_id)s
     and kind = 'reply'),
spans as (
  select replies.n, is_error, tool_results.cost_usd,
         greatest(replies.at, tool_results.at - ms * interval '1 millisecond') as begun_at,
         greatest(replies.at, tool_results.at - ms * interval '1 millisecond') + ms * interval '1 millisecond' as ended_at
    from tool_results
    join replies using (n)
   where run_id = %(run_id)s),
reached_spans as (
  select *, max(ended_at) over (partition by n order by begun_at, ended_at rows between unbounded preceding and 1 preceding) as reached_at
    from spans),
call_sums as (
  select n,
         count(*) as calls,
         count(*) filter (where is_error) as errors,
         sum(cost_usd) as calls_usd,
         max(ended_at) as ended_at,
         sum(greatest(date_part('epoch', ended_at - greatest(begun_at, reached_at)), 0)) as tools_s
    from reached_spans
   group by n),
steps as (
  select marked_steps.*, replies.n, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens,
         replies.cost_usd + coalesce(calls_usd, 0) as cost_usd,
         input_tokens + output_tokens + cache_write_tokens + cache_read_tokens as context_tokens,
         calls, errors, tools_s,
         greatest(before_at, lag(ended_at) over (order by step)) as asked_at
    from marked_steps
    left join replies using (step)
    left join call_sums using (n)
   where is_shown),
bounds as (
  select ceil(greatest(least(max(step), %(last)s::bigint) - %(first)s + 1, 1) / %(rows)s::float8)::bigint as fold
    from steps),
folded_steps as (
  select *, case when step between %(first)s and %(last)s then (step - %(first)s) / fold end as bucket
    from steps, bounds)
select bucket,
       grouping(bucket) = 1 as is_sum,
       max(fold) as fold,
       min(step) as first_turn,
       max(step) as last_turn,
       max(seq) as seq,
       min(n) as first_n,
       max(n) as last_n,
       min(coalesce(least(first_at, asked_at), first_at)) as at,
       count(replied_at) as replies,
       coalesce(sum(greatest(date_part('epoch', replied_at - asked_at) - waited_s, 0)), 0)::float8 as model_s,
       coalesce(sum(tools_s), 0)::float8 as tools_s,
       coalesce(sum(queue_s), 0)::float8 as queue_s,
       coalesce(sum(cooldown_s), 0)::float8 as cooldown_s,
       coalesce(sum(pause_s), 0)::float8 as pause_s,
       coalesce(sum(handover_s), 0)::float8 as handover_s,
       coalesce(sum(input_tokens), 0)::bigint as input_tokens,
       coalesce(sum(output_tokens), 0)::bigint as output_tokens,
       coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens,
       coalesce(sum(cache_read_tokens), 0)::bigint as cache_read_tokens,
       case when count(cost_usd) = count(replied_at) then coalesce(sum(cost_usd), 0) end as cost_usd,
       coalesce(max(context_tokens), 0)::bigint as context_tokens,
       coalesce(sum(calls), 0)::bigint as tool_calls,
       coalesce(sum(errors), 0)::bigint as tool_errors
  from folded_steps
 group by grouping sets ((bucket), ())
 order by is_sum, bucket;

-- calls
-- The calls of replies, those that took longest of each: when each began after its reply, and how long it took.
select n, call_id, name, is_error, after_s, seconds
  from (select r.n, r.call_id, r.name, r.is_error, r.ms / 1000.0::float8 as seconds,
               greatest(date_part('epoch', r.at - e.at) - r.ms / 1000.0, 0)::float8 as after_s,
               row_number() over (partition by r.n order by r.ms desc, r.call_id) as place
          from tool_results r
          join entries e on e.run_id = r.run_id and e.n = r.n
         where r.run_id = %(run_id)s
           and r.n between %(first_n)s and %(last_n)s) call
 where place <= %(calls)s
 order by n, after_s, call_id;

-- under_way
-- What has happened since the last reply, with it.
select kind, at, data ->> 'call_id' as call_id, data ->> 'name' as name, data ->> 'waits_for' as waits_for
  from events
 where run_id = %(run_id)s
   and seq >= (select coalesce(max(seq), 0)
                 from (select seq
                         from events
                        where run_id = %(run_id)s
                          and kind = 'model.replied'
                        order by seq desc
                        limit 1) reply)
 order by seq
 limit %(limit)s;
