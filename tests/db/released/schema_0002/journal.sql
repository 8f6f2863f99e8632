-- read
select n, kind, body, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd
  from entries where run_id = %(run_id)s order by n;

-- read_results
select n, call_id, is_error, body from tool_results where run_id = %(run_id)s;

-- read_result
select call_id, is_error, body from tool_results where run_id = %(run_id)s and n = %(n)s and call_id = %(call_id)s;

-- entry_exists
select 1 as found from entries where run_id = %(run_id)s and n = %(n)s and lease = %(lease)s;

-- append
-- The fence, the entry, its events and its cost are one statement: a writer whose lease is gone gets no row
-- from the fence, and so writes nothing. The batch row comes last, since many runs share it.
with fence as (
  update runs
     set seq = seq + %(event_count)s, entries = entries + 1, steps = steps + 1, turns = turns + %(turns)s,
         input_tokens = input_tokens + %(input_tokens)s, output_tokens = output_tokens + %(output_tokens)s,
         cache_write_tokens = cache_write_tokens + %(cache_write_tokens)s,
         cache_read_tokens = cache_read_tokens + %(cache_read_tokens)s,
         spent_usd = spent_usd + coalesce(%(cost_usd)s::numeric, 0), leased_until = now() + %(lease_for)s
   where id = %(run_id)s and lease = %(lease)s and state = 'running' and entries = %(n)s - 1
  returning id, batch_id, lease, entries, seq - %(event_count)s as seq_before, unread, clock_timestamp() as at),
entry as (
  insert into entries (run_id, n, kind, lease, body, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd)
  select id, entries, %(kind)s, lease, %(body)s::json, %(input_tokens)s, %(output_tokens)s, %(cache_write_tokens)s,
         %(cache_read_tokens)s, %(cost_usd)s
    from fence),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq_before + e.position, batch_id, e.kind, e.data::json, at
    from fence, rows from (string_to_table(%(kinds)s, ','), string_to_table(%(datas)s, E'\n')) with ordinality as e (kind, data, position)),
paid as (
  update batches set spent_usd = batches.spent_usd + %(cost_usd)s::numeric
    from fence where batches.id = fence.batch_id and %(cost_usd)s::numeric > 0)
select seq_before, at, unread, b.budget_usd is not null and b.spent_usd + coalesce(%(cost_usd)s::numeric, 0) >= b.budget_usd as budget_reached
  from fence join batches b on b.id = fence.batch_id;

-- settle_call
-- The last statement of a tool's transaction: fence, result, events, and what the tool paid a model. Only now is
-- the number of events known, and the run row is locked no longer than it takes to commit.
with fence as (
  update runs
     set seq = seq + %(event_count)s, steps = steps + 1, facts = facts + %(facts)s,
         input_tokens = input_tokens + %(input_tokens)s, output_tokens = output_tokens + %(output_tokens)s,
         cache_write_tokens = cache_write_tokens + %(cache_write_tokens)s,
         cache_read_tokens = cache_read_tokens + %(cache_read_tokens)s,
         spent_usd = spent_usd + %(cost_usd)s::numeric, leased_until = now() + %(lease_for)s
   where id = %(run_id)s and lease = %(lease)s and state = 'running'
  returning id, batch_id, seq - %(event_count)s as seq_before, clock_timestamp() as at),
result as (
  insert into tool_results (run_id, n, call_id, name, is_error, body, ms, cost_usd)
  select id, %(n)s, %(call_id)s, %(name)s, %(is_error)s, %(body)s, %(ms)s, %(cost_usd)s::numeric from fence),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq_before + e.position, batch_id, e.kind, e.data::json, at
    from fence, rows from (string_to_table(%(kinds)s, ','), string_to_table(%(datas)s, E'\n')) with ordinality as e (kind, data, position)),
paid as (
  update batches set spent_usd = batches.spent_usd + %(cost_usd)s::numeric
    from fence where batches.id = fence.batch_id and %(cost_usd)s::numeric > 0)
select seq_before, at from fence;

-- lock
-- Holds the run row, so that the messages and the wish read next are all there are.
select entries, unread, wanted from runs where id = %(run_id)s and lease = %(lease)s and state = 'running' for update;

-- take_messages
with taken as (
  update inbox set taken_in = %(n)s where run_id = %(run_id)s and taken_in is null returning id, text),
fence as (
  update runs
     set entries = %(n)s, steps = steps + 1, unread = 0, leased_until = now() + %(lease_for)s,
         max_turns = case when turns >= max_turns then turns + %(more_turns)s else max_turns end
   where id = %(run_id)s
  returning max_turns),
question as (
  select string_agg(text, E'\n\n' order by id) as text from taken),
entry as (
  insert into entries (run_id, n, kind, lease, body)
  select %(run_id)s, %(n)s, 'question', %(lease)s, json_build_object('text', text) from question)
select question.text, fence.max_turns from question, fence;

-- release
-- Ends a taking: the run completes, fails, pauses or goes back to the queue. A run with unread messages
-- does not complete. An attempt counts only when the taking added nothing.
with fence as (
  update runs
     set state = %(state)s, seq = seq + %(event_count)s, leased_until = null,
         wanted = null,
         answer = coalesce(%(answer)s::text, answer), error = %(error)s::json,
         ready_at = now() + %(ready_in)s, rung_at = null,
         attempt = attempt + case when %(counts)s and steps = steps_at_claim then 1 else 0 end,
         finished_at = case when %(closes)s then now() end
   where id = %(run_id)s and lease = %(lease)s and state = 'running' and (unread = 0 or %(state)s <> 'completed')
  returning id, batch_id, turns, facts, seq - %(event_count)s as seq_before, clock_timestamp() as at),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq_before + e.position, batch_id, e.kind, e.data::json, at
    from fence, rows from (string_to_table(%(kinds)s, ','), string_to_table(%(datas)s, E'\n')) with ordinality as e (kind, data, position)),
closed as (
  update batches
     set open_runs = open_runs - 1, finished_at = case when open_runs = 1 then now() end
    from fence where batches.id = fence.batch_id and %(closes)s
  returning open_runs)
select seq_before, at, (select open_runs from closed) as open_runs from fence;

-- close_batch
-- Whoever ends the last open run says so, in its own run's sequence. The batch row is locked by now, and all
-- other runs of it have ended.
with counts as (
  select json_object_agg(state, n) as runs from (select state, count(*) as n from runs where batch_id = %(batch_id)s group by state) each_state),
counter as (
  update runs set seq = seq + 1 where id = %(run_id)s returning id, batch_id, seq)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq, batch_id, 'batch.completed', json_build_object('runs', runs) from counter, counts
returning seq, at, data;

-- standing
select unread, steps > steps_at_claim as has_progressed from runs where id = %(run_id)s and lease = %(lease)s and state = 'running';

-- budget_reached
select spent_usd >= budget_usd as reached from batches where id = %(batch_id)s and budget_usd is not null;
