-- claim
-- A doorbell claims its own run and no other; one that comes late or twice finds nothing to claim.
with taken as (
  update runs
     set state = 'running', lease = lease + 1, leased_until = now() + %(lease_for)s, worker = %(worker)s,
         attempt = greatest(attempt, 1), steps_at_claim = steps, rung_at = null, seq = seq + 1,
         started_at = coalesce(started_at, now()), finished_at = null, error = null
   where id = %(run_id)s and state = 'queued' and ready_at <= now()
  returning id, batch_id, lease, role, subject_id, topic, model, max_turns, attempt, seq),
event as (
  insert into events (run_id, seq, batch_id, kind, data)
  select id, seq, batch_id, case when lease = 1 then 'run.started' else 'run.resumed' end,
         json_build_object('worker', %(worker)s::text, 'attempt', attempt)
    from taken
  returning seq, kind, at, data)
select taken.id, taken.batch_id, lease, role, subject_id, topic, model, max_turns, attempt, s.title as subject,
       event.seq as event_seq, event.kind as event_kind, event.at as event_at, event.data as event_data
  from taken, event, subjects s where s.id = taken.subject_id;

-- renew
-- One statement for all runs of a worker. A row that is locked is being written under its own lease, which
-- renews it too, so it is passed over rather than waited for.
with mine as (
  select r.id from runs r
    join unnest(%(run_ids)s::uuid[], %(leases)s::int[]) as held (id, lease) on r.id = held.id and r.lease = held.lease
   where r.state = 'running'
     for update of r skip locked)
update runs set leased_until = now() + %(lease_for)s from mine where runs.id = mine.id;

-- astray
-- Of the runs a worker believes it holds: those it has lost, and those somebody wants stopped.
select r.id, held.lease as held_lease, r.lease <> held.lease or r.state <> 'running' as lost, r.wanted
  from runs r join unnest(%(run_ids)s::uuid[], %(leases)s::int[]) as held (id, lease) on r.id = held.id
 where r.lease <> held.lease or r.state <> 'running' or r.wanted is not null;

-- next_to_ring
-- The runs whose turn it is, for as many slots as a worker has free. A doorbell that nobody answered
-- may be rung again after a while.
update runs set rung_at = now()
 where id in (
   select id from runs
    where state = 'queued' and ready_at <= now() and (rung_at is null or rung_at < now() - %(ring_again_after)s)
    order by priority desc, id limit %(limit)s for update skip locked)
returning id, role, topic, (select title from subjects s where s.id = subject_id) as subject;

-- doorbell
select r.id, r.role, r.topic, s.title as subject from runs r join subjects s on s.id = r.subject_id where r.id = %(run_id)s;

-- say
-- A running run takes the message at its next user entry. A run that ended goes on with it: queued again,
-- with its batch open again.
with told as (
  update runs
     set unread = unread + 1,
         state = case when state in ('completed', 'failed') then 'queued' else state end,
         attempt = case when state in ('completed', 'failed') then 1 else attempt end,
         max_turns = case when state in ('completed', 'failed') then greatest(max_turns, turns + %(more_turns)s) else max_turns end,
         ready_at = case when state in ('completed', 'failed') then now() else ready_at end,
         rung_at = case when state in ('completed', 'failed') then now() else rung_at end,
         finished_at = case when state in ('completed', 'failed') then null else finished_at end,
         seq = seq + case when state in ('completed', 'failed') then 1 else 0 end
    from (select id as old_id, state as was from runs where id = %(run_id)s for update) before
   where id = before.old_id and state in ('queued', 'running', 'paused', 'completed', 'failed')
  returning id, batch_id, seq, role, topic, subject_id, was),
message as (
  insert into inbox (id, run_id, text) select %(message_id)s, id, %(text)s from told),
event as (
  insert into events (run_id, seq, batch_id, kind, data)
  select id, seq, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic, 'continued', true)
    from told where was in ('completed', 'failed')
  returning run_id, batch_id),
reopened as (
  update batches set open_runs = open_runs + 1, finished_at = null
    from event where batches.id = event.batch_id)
select id, was, role, topic, (select title from subjects s where s.id = subject_id) as subject from told;

-- state
select state from runs where id = %(run_id)s;
