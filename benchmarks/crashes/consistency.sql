-- event_numbers
select r.id, r.topic,
       format('its events are numbered %%s to %%s, are %%s, and the run counts %%s',
              min(e.seq), max(e.seq), count(e.seq), r.seq) as difference
  from runs r
  left join events e
    on e.run_id = r.id
 where r.pruned_at is null
 group by r.id
having count(e.seq) <> r.seq
    or r.seq > 0 and (min(e.seq) <> 1 or max(e.seq) <> r.seq);

-- event_times
with ordered as (
  select run_id, seq, kind, at, lag(at) over (partition by run_id order by seq) as before
    from events)
select r.id, r.topic, format('event %%s (%%s) is of %%s, and the one before it of %%s', o.seq, kind, at, before) as difference
  from ordered o
  join runs r
    on r.id = run_id
 where at < before;

-- entry_numbers
select r.id, r.topic,
       format('its entries are numbered %%s to %%s, are %%s, and the run counts %%s',
              min(e.n), max(e.n), count(e.n), r.entries) as difference
  from runs r
  left join entries e
    on e.run_id = r.id
 where r.pruned_at is null
 group by r.id
having count(e.n) <> r.entries
    or r.entries > 0 and (min(e.n) <> 1 or max(e.n) <> r.entries);

-- epochs
with ordered as (
  select run_id, n, epoch, lease, kind,
         lag(epoch) over by_number as epoch_before,
         lag(lease) over by_number as lease_before
    from entries
  window by_number as (partition by run_id order by n))
select r.id, r.topic,
       format('entry %%s (%%s) is of epoch %%s and lease %%s, the one before it of %%s and %%s, and the run is at %%s and %%s',
              n, kind, o.epoch, o.lease, epoch_before, lease_before, r.epoch, r.lease) as difference
  from ordered o
  join runs r
    on r.id = run_id
 where o.epoch < epoch_before
    or o.lease < lease_before
    or o.epoch > r.epoch
    or o.lease > r.lease
    or o.epoch is distinct from epoch_before and kind <> 'opening';

-- lease_tokens
-- A number that was given out twice has two tokens. Workers of the version before write entries without one.
select r.id, r.topic, format('entry %%s of lease %%s has the token %%s, and another execution has that lease too', e.n, e.lease, e.token) as difference
  from entries e
  join runs r
    on r.id = e.run_id
 where e.lease = r.lease and e.token <> r.token
    or exists (select
                 from entries other
                where other.run_id = e.run_id and other.lease = e.lease and other.token <> e.token);

-- calls
-- Each tool call that a reply made, as `open` while the run has not gone on from it.
select e.run_id, e.n, block ->> 'id' as call_id, count(*) as times,
       r.state <> 'completed'
         and not exists (select from entries later
                          where later.run_id = e.run_id and later.n > e.n and later.epoch = e.epoch) as is_open
  from entries e
  join runs r
    on r.id = e.run_id,
       json_array_elements(e.body -> 'content') as block
 where e.kind = 'reply'
   and e.body ->> 'stop_reason' not in ('max_tokens', 'refusal', 'model_context_window_exceeded')
   and e.body -> 'problem' is null
   and e.body -> 'folds' is null
   and block ->> 'type' = 'tool_use'
 group by r.id, e.run_id, e.n, e.epoch, 3

-- missing_results
select r.id, r.topic, format('entry %%s called %%s, the run went on, and there is no result', n, call_id) as difference
  from ({{calls}}) as calls
  join runs r
    on r.id = run_id
 where not is_open
   and not exists (select from tool_results t
                    where t.run_id = calls.run_id and t.n = calls.n and t.call_id = calls.call_id);

-- stray_results
select r.id, r.topic, format('there is a result of %%s, which entry %%s did not call', call_id, n) as difference
  from tool_results t
  join runs r
    on r.id = run_id
 where (run_id, n, call_id) not in (select run_id, n, call_id from ({{calls}}) as calls where call_id is not null);

-- call_events
with announced as (
  select run_id, data ->> 'call_id' as call_id, count(*) as times
    from events
   where kind = 'tool.called'
   group by 1, 2),
made as (
  select run_id, call_id, sum(times) as times
    from ({{calls}}) as calls
   group by 1, 2)
select r.id, r.topic,
       format('%%s was called %%s times, and %%s events say so',
              call_id, coalesce(made.times, 0), coalesce(announced.times, 0)) as difference
  from made
  full join announced
 using (run_id, call_id)
  join runs r
    on r.id = run_id
 where made.times is distinct from announced.times;

-- result_events
with announced as (
  select run_id, data ->> 'call_id' as call_id, count(*) as times
    from events
   where kind = 'tool.returned'
   group by 1, 2),
stored as (
  select run_id, call_id, count(*) as times
    from tool_results
   group by 1, 2)
select r.id, r.topic,
       format('%%s has %%s results, and %%s events say so',
              call_id, coalesce(stored.times, 0), coalesce(announced.times, 0)) as difference
  from stored
  full join announced
 using (run_id, call_id)
  join runs r
    on r.id = run_id
 where stored.times is distinct from announced.times;

-- counts
-- What a run counts, and what its rows add up to. The answer of a model or a service to a tool is a step, which goes where the call
-- has its result; until then the answer is paid for in a row of its own.
with entry_sums as (
  select run_id, count(*) as entries, count(*) filter (where kind = 'reply') as replies, sum(cost_usd) as usd
    from entries
   group by run_id),
result_sums as (
  select run_id, count(*) as results, sum(cost_usd) as usd, sum(services_usd) as services_usd
    from tool_results
   group by run_id),
side_sums as (
  select run_id, count(*) as replies, sum(cost_usd) as usd,
         sum(cost_usd) filter (where service is not null) as services_usd
    from side_replies
   group by run_id),
late_sums as (
  select run_id, sum(cost_usd) as usd, sum(cost_usd) filter (where service is not null) as services_usd
    from write_offs
   group by run_id),
event_sums as (
  select run_id, count(*) filter (where kind = 'model.replied') as replied,
         count(*) filter (where kind = 'fact.stored') as facts
    from events
   group by run_id),
met_sums as (
  select run_id, count(*) filter (where how = 'stored') as facts
    from run_facts
   group by run_id),
inbox_sums as (
  select run_id, count(*) as unread
    from inbox
   where taken_in is null
   group by run_id)
select r.id, r.topic, format('its %%s are %%s, and its rows add up to %%s', name, counted, added) as difference
  from runs r
  left join entry_sums e on e.run_id = r.id
  left join result_sums t on t.run_id = r.id
  left join side_sums s on s.run_id = r.id
  left join late_sums l on l.run_id = r.id
  left join event_sums v on v.run_id = r.id
  left join met_sums m on m.run_id = r.id
  left join inbox_sums i on i.run_id = r.id,
       lateral (values
         ('turns', r.turns, e.replies),
         ('turns in events', r.turns, v.replied),
         ('steps', r.steps, coalesce(e.entries, 0) + coalesce(t.results, 0) + coalesce(s.replies, 0)),
         ('facts', r.facts, v.facts),
         ('stored facts', r.facts, m.facts),
         ('unread messages', r.unread, i.unread),
         ('USD', r.spent_usd, coalesce(e.usd, 0) + coalesce(t.usd, 0) + coalesce(s.usd, 0) + coalesce(l.usd, 0)),
         ('USD of services', r.services_usd, coalesce(t.services_usd, 0) + coalesce(s.services_usd, 0) + coalesce(l.services_usd, 0))
       ) as sums (name, counted, added)
 where r.pruned_at is null
   and counted <> coalesce(added, 0)
   and (name <> 'steps' or counted < added or not exists (select
                                                            from tool_results paid
                                                           where paid.run_id = r.id
                                                             and paid.cost_usd > 0));

-- tokens
-- Those of side answers stand in no other row, so a run with side answers has more than its entries. Replies that came when their
-- call was written off stand in the row of that.
with entry_sums as (
  select run_id,
         sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
         sum(cache_write_tokens) as cache_write_tokens, sum(cache_read_tokens) as cache_read_tokens
    from (select run_id, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens from entries
          union all
          select run_id, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens from write_offs) as replies
   group by run_id)
select r.id, r.topic, format('its %%s are %%s, and its entries have %%s', name, counted, added) as difference
  from runs r
  join entry_sums e
    on e.run_id = r.id,
       lateral (values
         ('input tokens', r.input_tokens, e.input_tokens),
         ('output tokens', r.output_tokens, e.output_tokens),
         ('tokens written to the cache', r.cache_write_tokens, e.cache_write_tokens),
         ('tokens read from the cache', r.cache_read_tokens, e.cache_read_tokens)
       ) as sums (name, counted, added)
 where counted < added
    or counted > added
       and r.state = 'completed'
       and not exists (select from tool_results t where t.run_id = r.id and t.cost_usd > 0);

-- reservations
select id, topic,
       format('it is %%s and has %%s USD, %%s tokens, %%s calls reserved, and %%s USD, %%s tokens, %%s calls unconfirmed',
              state, reserved_usd, reserved_tokens, reserved_calls,
              unconfirmed_usd, unconfirmed_tokens, unconfirmed_calls) as difference
  from runs
 where state <> 'running' and (reserved_usd <> 0 or reserved_tokens <> 0 or reserved_calls <> 0)
    or least(reserved_usd, reserved_tokens, reserved_calls,
             unconfirmed_usd, unconfirmed_tokens, unconfirmed_calls) < 0
    or unconfirmed_calls = 0 and (unconfirmed_usd <> 0 or unconfirmed_tokens <> 0);

-- write_offs
-- Calls that were written off before there were rows for them have none.
select r.id, r.topic, format('%%s calls are unconfirmed, and it has %%s write-offs that nobody has settled', r.unconfirmed_calls, w.open) as difference
  from runs r
  join lateral (select count(*) as open
                  from write_offs
                 where run_id = r.id
                   and settled_at is null) as w
    on w.open > r.unconfirmed_calls;

-- leases
select id, topic, format('it is %%s, held by %%s until %%s', state, worker, leased_until) as difference
  from runs
 where (state = 'running') <> (leased_until is not null)
    or stop_requested is not null and state <> 'running';

-- batches
-- Until it is completed it may count more open runs than it has. What its runs have cost stands in its row, and for what is under way in several.
select b.id, b.name as topic, format('its %%s are %%s, and its runs add up to %%s', name_of_sum, counted, added) as difference
  from batches b
  join batch_costs c
    on c.batch_id = b.id
  join (select batch_id, count(*) as runs,
               count(*) filter (where state in ('queued', 'running', 'paused')) as open_runs,
               sum(spent_usd) as spent_usd, sum(spent_tokens) as spent_tokens,
               sum(unconfirmed_usd) as unconfirmed_usd, sum(unconfirmed_tokens) as unconfirmed_tokens
          from runs
         group by batch_id) as sums
    on sums.batch_id = b.id,
       lateral (values
         ('runs', b.run_count, sums.runs),
         ('open runs', b.open_runs,
          case when b.finished_at is null then greatest(b.open_runs, sums.open_runs) else sums.open_runs end),
         ('USD', c.spent_usd, sums.spent_usd),
         ('tokens', c.spent_tokens, sums.spent_tokens),
         ('unconfirmed USD', c.unconfirmed_usd, sums.unconfirmed_usd),
         ('unconfirmed tokens', c.unconfirmed_tokens, sums.unconfirmed_tokens)
       ) as compared (name_of_sum, counted, added)
 where counted <> added;

-- batch_ends
-- A batch that is closed says so once for each time it was closed; it is opened again by a message or a retry.
select b.id, b.name as topic,
       format('it has %%s open runs, was finished at %%s, and %%s events say that it is completed',
              open_runs, finished_at, said) as difference
  from batches b,
       lateral (select count(*) as said
                  from events e
                 where e.batch_id = b.id
                   and e.kind = 'batch.completed') as events
 where (open_runs = 0) <> (finished_at is not null)
    or open_runs = 0 and said = 0;

-- days
select null as id, 'all runs' as topic,
       format('the days have cost %%s USD, and the runs add up to %%s', days.usd, runs.usd) as difference
  from (select coalesce(sum(usd), 0) as usd from spending) as days,
       (select coalesce(sum(spent_usd + unconfirmed_usd), 0) as usd from runs) as runs
 where days.usd <> runs.usd;

-- replies
select r.id, r.topic, e.n, e.body ->> 'request_id' as request_id, e.body -> 'content' as content,
       e.input_tokens, e.output_tokens
  from entries e
  join runs r
    on r.id = e.run_id
 where e.kind = 'reply'
 order by r.id, e.n;

-- runs
-- What was or may have been billed for nothing, how often a run was taken from a worker that was not heard of, and the tokens of
-- what its tools asked a model.
select r.id, r.topic,
       r.unconfirmed_calls
       + (select count(*)
            from write_offs w
           where w.run_id = r.id
             and w.settled_at is not null) as unconfirmed_calls,
       r.spent_tokens
       - (select coalesce(sum(input_tokens + output_tokens + cache_write_tokens + cache_read_tokens), 0)
            from (select run_id, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens from entries
                  union all
                  select run_id, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens from write_offs) e
           where e.run_id = r.id) as side_tokens,
       (select count(*)
          from events e
         where e.run_id = r.id
           and e.kind = 'run.handed_back'
           and e.data ->> 'reason' = 'its worker is not heard of') as rescues
  from runs r;
