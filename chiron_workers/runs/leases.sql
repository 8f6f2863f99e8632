-- acquire
-- A dispatched message acquires its own run and no other; one that comes late or twice finds nothing to acquire. A run
-- that is not marked as dispatched was handed back after its message was sent again: whose turn it is, and whether a
-- limit allows it, is decided anew. There is always a row, which says which server answers; it has no id where nothing was
-- acquired.
with acquired as (
  update runs
     set state = 'running',
         lease = lease + 1,
         recorded_leases = recorded_leases + 1,
         token = gen_random_uuid(),
         leased_until = now() + %(lease_for)s,
         worker = %(worker)s,
         attempt = greatest(attempt, 1),
         steps_at_claim = steps,
         shared_ends = case when steps > steps_at_claim then 0 else shared_ends end,
         sole_ends = case when steps > steps_at_claim then 0 else sole_ends end,
         reserved_usd = 0,
         reserved_tokens = 0,
         reserved_calls = 0,
         calls_in_flight = '{}',
         dispatched_at = null,
         seq = seq + 1,
         started_at = coalesce(started_at, now()),
         finished_at = null,
         error = null,
         silent = false
   where id = %(run_id)s
     and state = 'queued'
     and dispatched_at is not null
     and ready_at <= now()
     and pg_postmaster_start_time() = all(%(server_starts)s::timestamptz[])
     and not exists (select from holds h where h.model = runs.model and (h.until > now() or h.probe_run <> runs.id and h.probed_by > now()))
  returning id, batch_id, lease, token, steps, role, subject_id, topic, model, max_turns, attempt, entries, turns, epoch, seq,
            subscription_id, since, found_before, price, thinking, effort, scope, context),
event as (
  insert into events (run_id, seq, batch_id, kind, data)
  select id, seq, batch_id, case when lease = 1 then 'run.started' else 'run.resumed' end,
         json_build_object('worker', %(worker)s::text, 'attempt', attempt)
    from acquired
  returning seq, kind, at, data)
select acquired.id, acquired.batch_id, lease, token, steps, role, acquired.subject_id, topic, model, max_turns, attempt, entries, turns, epoch,
       s.title as subject, acquired.subscription_id, since, found_before, price, thinking, effort, scope, context,
       b.owner, b.key_id, b.columns, event.seq as event_seq, event.kind as event_kind, event.at as event_at, event.data as event_data,
       exists (select from holds h where h.model = acquired.model and h.refused_at is not null) as is_probe,
       server.started_at as server_started_at
  from (select pg_postmaster_start_time() as started_at) server
  left join (acquired
             cross join event
             join subjects s on s.id = acquired.subject_id
             join batches b on b.id = acquired.batch_id)
    on true;

-- renew
-- One statement for all runs of a worker. A row that is locked is being written under its own lease, which
-- renews it too, so it is passed over rather than waited for.
with renewed as (
  select r.id
    from runs r
    join unnest(%(run_ids)s::uuid[], %(leases)s::int[], %(tokens)s::uuid[], %(steps)s::int[]) as held (id, lease, token, steps)
      on r.id = held.id and r.lease = held.lease and r.token = held.token and r.steps >= held.steps
   where r.state = 'running'
     for update of r skip locked)
update runs
   set leased_until = greatest(leased_until, clock_timestamp() + %(lease_for)s)
  from renewed
 where runs.id = renewed.id;

-- interrupts
-- Of the runs a worker believes it holds: the lost ones, and those that are to stop. A failover may have forgotten
-- the row, the acquisition, or steps that were committed under it.
select held.id, held.token, lost.is_lost, r.stop_requested
  from unnest(%(run_ids)s::uuid[], %(leases)s::int[], %(tokens)s::uuid[], %(steps)s::int[]) as held (id, lease, token, steps)
  left join runs r
    on r.id = held.id
 cross join lateral (select (r.lease, r.token, r.state) is distinct from (held.lease, held.token, 'running')
                            or r.steps < held.steps as is_lost) lost
 where lost.is_lost
    or r.stop_requested is not null;

-- lock
-- In a statement of its own: the next one locks its tables as soon as Postgres reads it, and whoever prunes has the
-- rows of the runs before it locks the tables.
select batch_id, state
  from runs
 where id = %(run_id)s
   for update;

-- say
-- A running run takes the message at its next user entry. A run that ended goes on with it: queued again,
-- with its batch open again.
with before as (
  select id as old_id, state as was, state in ('completed', 'failed') as reopens
    from runs
   where id = %(run_id)s
     for update),
addressed as (
  update runs
     set unread = unread + 1,
         state = case when reopens then 'queued' else state end,
         attempt = case when reopens then 1 else attempt end,
         max_turns = case when reopens then greatest(max_turns, turns + %(more_turns)s) else max_turns end,
         ready_at = case when reopens then now() else ready_at end,
         finished_at = case when reopens then null else finished_at end,
         seq = seq + reopens::int
    from before
   where id = before.old_id
     and state in ('queued', 'running', 'paused', 'completed', 'failed')
     and pruned_at is null
  returning id, batch_id, seq, role, topic, was, reopens),
message as (
  insert into inbox (id, run_id, text)
  select %(message_id)s, id, %(text)s
    from addressed),
event as (
  insert into events (run_id, seq, batch_id, kind, data)
  select id, seq, batch_id, 'run.queued', json_build_object('role', role, 'topic', topic, 'continued', true)
    from addressed
   where reopens
  returning run_id, batch_id),
reopened as (
  update batches
     set open_runs = open_runs + 1,
         finished_at = null
    from event
   where batches.id = event.batch_id)
select was
  from addressed;

-- state
select state, pruned_at is not null as is_pruned
  from runs
 where id = %(run_id)s;
