-- lock
-- Holds the run row, so that the messages, the stop request and the reservations read next are all there are.
select entries, unread, stop_requested, reserved_usd, reserved_tokens,
       exists (select
                 from batches b
                 join webhooks w on w.owner = b.owner
                where b.id = runs.batch_id
                  and w.state = 'active') as has_webhooks
  from runs
 where id = %(run_id)s
   and lease = %(lease)s
   and token = %(token)s
   and steps >= %(steps)s
   and state = 'running'
   for update;

-- release
-- Ends a lease: the run completes, fails, pauses or goes back to the queue. A run with unread messages does not
-- complete. Where it ends, the facts that it cites are recorded. An attempt counts only when the holder added nothing, and one that added something begins the count anew: a
-- run of many hours may meet many crashes. A call that is still reserved was cut, or its holder is lost: it may be
-- billed, and is counted as unconfirmed.
with {{cited_facts}},
fence as (
  update runs
     set state = %(state)s,
         seq = seq + %(event_count)s,
         leased_until = null,
         stop_requested = null,
         answer = coalesce(%(answer)s::text, answer),
         error = %(error)s::json,
         silent = %(silent)s,
         ready_at = now() + %(ready_in)s,
         dispatched_at = null,
         attempt = case when %(state)s in ('queued', 'paused') and steps > steps_at_claim then 1
                        when %(counts)s and steps = steps_at_claim then attempt + 1
                        else attempt
                   end,
         unconfirmed_usd = unconfirmed_usd + reserved_usd,
         unconfirmed_tokens = unconfirmed_tokens + reserved_tokens,
         unconfirmed_calls = unconfirmed_calls + reserved_calls,
         unpriced_calls = unpriced_calls + case when price = '"none"'::jsonb then reserved_calls else 0 end,
         reserved_usd = 0,
         reserved_tokens = 0,
         reserved_calls = 0,
         calls_in_flight = '{}',
         finished_at = case when %(closes)s then now() end,
         cited = case when %(closes)s then {{known_count}} else cited end
   where id = %(run_id)s
     and lease = %(lease)s
     and token = %(token)s
     and state = 'running'
     and (unread = 0 or %(state)s <> 'completed')
  returning id, batch_id, turns, facts, seq - %(event_count)s as seq_before, clock_timestamp() as at,
            json_strip_nulls(json_build_object('cited', nullif(cited, 0), 'nothing_found', nullif({{nothing_found}}, false))) as outcome),
forgotten as (
  delete from run_facts
   using fence
   where %(closes)s
     and run_id = fence.id
     and how = 'cited'
     and fact_id not in (select id from cited_facts)),
cited as (
  insert into run_facts (run_id, fact_id, how)
  select fence.id, cited_facts.id, 'cited'
    from fence, cited_facts
   where %(closes)s
      on conflict do nothing),
logged as (
  insert into events (run_id, seq, batch_id, kind, data, at)
  select id, seq_before + e.position, batch_id, e.kind,
         -- As text: jsonb does not take every answer.
         case when e.kind = 'run.completed' and outcome::text <> '{}' then left(e.data, -1) || ', ' || substr(outcome::text, 2)
              else e.data
         end::json, at
    from fence,
         rows from (string_to_table(%(kinds)s, ','), string_to_table(%(datas)s, E'\n'))
           with ordinality as e (kind, data, position))
select seq_before, at, outcome
  from fence;

-- spend
-- What the day has cost; a call that is unconfirmed counts in full. Before the sums of the batch, as everywhere.
insert into spending (day, shard, usd)
values ((clock_timestamp() at time zone 'utc')::date, %(shard)s, %(usd)s)
    on conflict (day, shard) do update set usd = spending.usd + excluded.usd;

-- count_unconfirmed
insert into batch_sums (batch_id, shard, unconfirmed_usd, unconfirmed_tokens)
values (%(batch_id)s, %(shard)s, %(usd)s, %(tokens)s)
    on conflict (batch_id, shard) do update
   set unconfirmed_usd = batch_sums.unconfirmed_usd + excluded.unconfirmed_usd,
       unconfirmed_tokens = batch_sums.unconfirmed_tokens + excluded.unconfirmed_tokens;
