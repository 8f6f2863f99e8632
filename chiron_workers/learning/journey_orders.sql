-- note_orders
update journeys
   set ordered_at = now(), node_id = coalesce(%(node_id)s::uuid, node_id)
 where id = %(id)s
   and step = %(step)s
   and ordered_at is null
returning id;

-- note_quiz
update journeys
   set quiz_id = %(quiz_id)s
 where id = %(id)s
   and step = %(step)s;

-- note_batches
insert into journey_batches (journey_id, batch_id, order_step, state, is_own)
select %(id)s, b.id, %(order_step)s, %(state)s, b.owner = %(learner)s
  from batches b
 where b.id = any(%(batch_ids)s::uuid[])
    on conflict (journey_id, batch_id) do update
   set order_step = greatest(journey_batches.order_step, excluded.order_step);

-- orders
-- What the present step has ordered: under its key, or as a round of research since it began. `scope` is that of a run of it.
select b.id as batch_id, (select r.scope from runs r where r.batch_id = b.id limit 1) as scope
  from batches b
 where b.owner = %(learner)s
   and (b.idempotency_key in (%(key)s, %(learner)s || ': ' || %(key)s)
        or %(state)s = 'researching'
           and b.id in (select r.batch_id
                          from node_research n
                          join runs r on r.id = n.run_id
                         where n.subject_id = %(subject_id)s
                           and n.owner = %(learner)s
                           and n.created_at >= %(moved_at)s));

-- lock_orders
-- Learners who want the same at once order it one after the other, and the second finds what the first has ordered.
select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'orders', %(subject_id)s::text, %(state)s::text, %(node_id)s::text), 0));

-- orders_of_others
-- What journeys of other learners wait for in the same state about the same node, or to the same goal.
select jb.batch_id
  from journeys o
  join journey_batches jb on jb.journey_id = o.id and jb.order_step = o.order_step
 where o.subject_id = %(subject_id)s
   and o.id <> %(id)s
   and o.state = %(state)s
   and case when o.state = 'initializing' then (o.purpose, o.depth) = (%(purpose)s, %(depth)s) else o.node_id = %(node_id)s end
   and exists (select
                 from runs r
                where r.batch_id = jb.batch_id
                  and r.state in ('queued', 'running'))
 order by jb.batch_id
 limit 1;

-- batches
-- What the orders of this step have come to. Why a run of somebody else's stopped is nobody else's business.
select jb.batch_id,
       jb.is_own,
       count(r.id) filter (where r.state in ('queued', 'running'))::int as under_way,
       count(r.id) filter (where r.state = 'paused')::int as paused,
       count(r.id) filter (where r.state = 'completed')::int as completed,
       count(r.id) filter (where r.state = 'failed')::int as failed,
       count(r.id) filter (where r.state = 'cancelled')::int as cancelled,
       min(r.error ->> 'message') filter (where jb.is_own and r.state in ('paused', 'failed')) as message
  from journey_batches jb
  left join runs r on r.batch_id = jb.batch_id
 where jb.journey_id = %(id)s
   and jb.order_step = %(order_step)s
 group by jb.batch_id, jb.is_own
 order by jb.batch_id;

-- own_open_batches
select jb.batch_id
  from journey_batches jb
  join batches b on b.id = jb.batch_id
 where jb.journey_id = %(id)s
   and jb.is_own
   and b.open_runs > 0;

-- paused
-- What its step has ordered and can continue, paused or at the end of its turns, with what that has spent: runs that have met their own budget or are in a batch
-- without one, else batches.
select distinct case when own.is_bound then r.id else b.id end as target,
       case when own.is_bound then r.spent_usd + r.unconfirmed_usd else c.spent_usd + c.unconfirmed_usd end as spent_usd
  from journeys j
  join journey_batches jb on jb.journey_id = j.id and jb.order_step = j.order_step
  join batches b on b.id = jb.batch_id
  join batch_costs c on c.batch_id = b.id
  join runs r on r.batch_id = b.id
  cross join lateral (select b.budget_usd is null or coalesce(r.error ->> 'budget' = 'run', false) as is_bound) own
 where j.id = %(id)s
   and jb.is_own
   and (r.state = 'paused' or r.state = 'failed' and r.error ->> 'kind' = 'max_turns')
 order by 1;

-- spent
select coalesce(sum(greatest(jb.cost_usd, c.spent_usd + c.unconfirmed_usd)), 0) as usd
  from journey_batches jb
  left join batch_costs c on c.batch_id = jb.batch_id
 where jb.journey_id = %(id)s
   and jb.is_own;
