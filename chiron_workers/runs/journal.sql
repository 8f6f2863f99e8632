-- read
-- The entries of an epoch. Looking for its beginning from the end touches none of the epochs before.
select n, kind, epoch, body, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd
  from entries
 where run_id = %(run_id)s
   and n > coalesce((select b.n
                       from entries b
                      where b.run_id = %(run_id)s
                        and b.epoch < %(epoch)s
                      order by b.n desc
                      limit 1), 0)
 order by n;

-- read_results
select n, call_id, is_error, body, ends_silently
  from tool_results
 where run_id = %(run_id)s
   and n >= %(first)s;

-- read_result
select call_id, is_error, body, ends_silently
  from tool_results
 where run_id = %(run_id)s
   and n = %(n)s
   and call_id = %(call_id)s;

-- entry_exists
select 1 as found
  from entries
 where run_id = %(run_id)s
   and n = %(n)s
   and token = %(token)s;

-- step
-- What every write of a turn changes in its run's row: the numbers of its events, and the lease, which such a write renews.
         seq = seq + %(event_count)s,
         steps = steps + 1,
         leased_until = greatest(leased_until, clock_timestamp() + %(lease_for)s)

-- payment
-- What a reply changes in its run's row beside: what a model was paid and had reserved.
         input_tokens = input_tokens + %(input_tokens)s,
         output_tokens = output_tokens + %(output_tokens)s,
         cache_write_tokens = cache_write_tokens + %(cache_write_tokens)s,
         cache_read_tokens = cache_read_tokens + %(cache_read_tokens)s,
         spent_usd = spent_usd + coalesce(%(cost_usd)s::numeric, 0),
         unpriced_calls = unpriced_calls + %(unpriced_calls)s,
         reserved_usd = greatest(reserved_usd - %(reserved_usd)s, 0),
         reserved_tokens = greatest(reserved_tokens - %(reserved_tokens)s, 0),
         reserved_calls = greatest(reserved_calls - %(reserved_calls)s, 0),
         calls_in_flight = case when calls_in_flight <@ %(calls)s::int[] then '{}'
                                else array(select unnest(calls_in_flight) except select unnest(%(calls)s::int[]))
                           end

-- side_question
-- What a tool call asks a model, and how often it has asked the same.
run_id = %(run_id)s and n = %(n)s and call_id = %(call_id)s and question = %(question)s and repeat = %(repeat)s

-- logged
-- The events that commit with the fence.
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq_before + e.position, batch_id, e.kind, e.data::json, at
    from fence,
         rows from (string_to_table(%(kinds)s, ','), string_to_table(%(datas)s, E'\n'))
           with ordinality as e (kind, data, position))

-- accounts
-- The cost to the batch and to the day (of now: a tool's transaction may have begun the day before), which commits with
-- the fence. Postgres runs what nobody reads from the last to the first, so the rows that other runs of the same shard
-- share are locked last: the day's, then the batch's.
paid as (
  insert into batch_sums (batch_id, shard, spent_usd, spent_tokens)
  select batch_id, %(shard)s, coalesce(%(cost_usd)s::numeric, 0), %(tokens)s
    from fence
   where %(tokens)s > 0
      or %(cost_usd)s::numeric > 0
      on conflict (batch_id, shard) do update
     set spent_usd = batch_sums.spent_usd + excluded.spent_usd,
         spent_tokens = batch_sums.spent_tokens + excluded.spent_tokens),
spent_today as (
  insert into spending (day, shard, usd)
  select (clock_timestamp() at time zone 'utc')::date, %(shard)s, %(cost_usd)s
    from fence
   where %(cost_usd)s::numeric > 0
      on conflict (day, shard) do update set usd = spending.usd + excluded.usd)

-- append
-- The fence, the entry, its events and its cost are one statement.
with fence as (
  update runs r
     set entries = entries + 1,
         turns = turns + %(turns)s,
         epoch = coalesce(%(epoch)s, epoch),
{{step}},
{{payment}}
   where {{leased}}
     and entries = %(n)s - 1
  returning id, batch_id, lease, token, entries, epoch, unread, seq - %(event_count)s as seq_before, clock_timestamp() as at),
{{accounts}},
{{logged}},
entry as (
  insert into entries (run_id, n, kind, epoch, lease, token, body,
                       input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd)
  select id, entries, %(kind)s, epoch, lease, token, %(body)s::json,
         %(input_tokens)s, %(output_tokens)s, %(cache_write_tokens)s, %(cache_read_tokens)s, %(cost_usd)s
    from fence)
select seq_before, at, unread
  from fence;

-- read_side_reply
select body, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd
  from side_replies
 where {{side_question}};

-- append_side_reply
-- What a model, or a hosted service, answered to a tool call is paid for before the tool uses it, so that a kill in between
-- repeats no call.
with fence as (
  update runs r
     set {{step}},
{{payment}},
         services_usd = services_usd + case when %(service)s::text is null then 0 else %(cost_usd)s::numeric end
   where {{leased}}
     and not exists (select
                       from side_replies
                      where {{side_question}})
  returning id, batch_id, lease, token, seq as seq_before, clock_timestamp() as at),
{{accounts}}
insert into side_replies (run_id, n, call_id, question, repeat, lease, token, service, body,
                          input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd)
select id, %(n)s, %(call_id)s, %(question)s, %(repeat)s, lease, token, %(service)s, %(body)s::json,
       %(input_tokens)s, %(output_tokens)s, %(cache_write_tokens)s, %(cache_read_tokens)s, %(cost_usd)s
  from fence
returning run_id;

-- side_reply_exists
select 1 as found
  from side_replies
 where {{side_question}}
   and token = %(token)s;

-- has_room
-- Where a call follows at once, nothing but the run's own budget binds it, and its row alone decides.
%(call)s::int is not null
         and stop_requested is null
         and unread = 0
         and b.limit_usd is null
         and b.limit_tokens is null
         and {{fits_run}}

-- settle_call
-- The last statement of a tool's transaction: fence, result and events. What the tool asked a model or a service is paid for by
-- now; its result says what that cost, and takes the place of the answers. Only now is the number of events known, and the
-- run row is locked no longer than it takes to commit. The last result that a model call waits for reserves for that call
-- where it can; else the call reserves for itself.
with fence as (
  update runs r
     set facts = facts + %(facts)s,
         confirmed = confirmed + %(confirmed)s,
         unpriced_calls = unpriced_calls + %(unpriced_services)s,
         unpriced_services = unpriced_services + %(unpriced_services)s,
{{step}},
         reserved_usd = reserved_usd + case when {{has_room}} then %(usd)s::numeric else 0 end,
         reserved_tokens = reserved_tokens + case when {{has_room}} then %(tokens)s::bigint else 0 end,
         reserved_calls = reserved_calls + case when {{has_room}} then 1 else 0 end,
         calls_in_flight = case when {{has_room}} then calls_in_flight || %(call)s::int else calls_in_flight end
    from (select id as limited_id, budget_usd as limit_usd, budget_tokens as limit_tokens from batches) b
   where {{leased}}
     and b.limited_id = r.batch_id
  returning id, batch_id, seq - %(event_count)s as seq_before, clock_timestamp() as at,
            %(call)s::int = any(calls_in_flight) as is_reserved),
{{logged}},
met as (
  insert into run_facts (run_id, fact_id, how)
  select id, fact_id::uuid, how
    from fence,
         (select fact_id, 'confirmed' as how
            from string_to_table(%(confirmed_ids)s, ',') as fact_id
          union all
          select fact_id, 'searched'
            from string_to_table(%(searched_ids)s, ',') as fact_id) as fact
      on conflict do nothing),
answers as (
  delete from side_replies
   using fence
   where run_id = fence.id
     and n = %(n)s
     and call_id = %(call_id)s
  returning cost_usd, service),
result as (
  insert into tool_results (run_id, n, call_id, name, is_error, body, whole, ms, cost_usd, services_usd, ends_silently)
  select id, %(n)s, %(call_id)s, %(name)s, %(is_error)s, %(body)s, %(whole)s, %(ms)s,
         (select coalesce(sum(cost_usd), 0) from answers),
         (select coalesce(sum(cost_usd) filter (where service is not null), 0) from answers), %(ends_silently)s
    from fence)
select seq_before, at, is_reserved
  from fence;

-- settle_writes
-- The same where the tool has written: it fails without the lease, as the commit goes out with it.
{{settle_call}}
union all
select lease_lost(), null, null
 where not exists (select from fence);

-- lock
-- Holds the run row, so that the messages read next are all there are.
select entries, unread
  from runs r
 where {{leased}}
   for update;

-- take_messages
with taken as (
  update inbox
     set taken_in = %(n)s
   where run_id = %(run_id)s
     and taken_in is null
  returning id, text),
fence as (
  update runs
     set entries = %(n)s,
         steps = steps + 1,
         unread = 0,
         leased_until = greatest(leased_until, clock_timestamp() + %(lease_for)s),
         max_turns = case when turns >= max_turns then turns + %(more_turns)s else max_turns end
   where id = %(run_id)s
  returning max_turns, epoch),
question as (
  select string_agg(text, E'\n\n' order by id) as text
    from taken),
entry as (
  insert into entries (run_id, n, kind, epoch, lease, token, body)
  select %(run_id)s, %(n)s, 'question', epoch, %(lease)s, %(token)s, json_build_object('text', text)
    from question, fence)
select question.text, fence.max_turns
  from question, fence;

-- unread
-- Whether messages wait.
select unread
  from runs r
 where {{leased}};
