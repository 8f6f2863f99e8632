-- columns
-- A node that was merged into another since is that one.
j.id, j.learner, j.key_id, j.subject_id, j.purpose, j.depth, j.model, j.facts_min, j.budget_usd, j.needs_map, j.state, j.event,
j.reason, j.held_state, j.step, j.order_step, j.ordered_at,
coalesce((select n.merged_into from nodes n where n.id = j.node_id), j.node_id) as node_id,
j.quiz_id, j.skipped_node_ids, j.created_at, j.moved_at

-- of_a_learner
select {{columns}}
  from journeys j
 where j.learner = %(learner)s
   and (%(subject_id)s::text is null or j.subject_id = %(subject_id)s)
 order by j.moved_at desc
 limit %(limit)s;

-- by_id
select {{columns}}
  from journeys j
 where j.id = %(id)s;

-- begin
-- Two starts at once give one journey: the second waits for the first, and adds nothing.
insert into journeys (id, learner, key_id, subject_id, purpose, depth, model, facts_min, budget_usd, needs_map, state, event)
values (%(id)s, %(learner)s, %(key_id)s, %(subject_id)s, %(purpose)s, %(depth)s, %(model)s, %(facts_min)s, %(budget_usd)s,
        %(needs_map)s, 'initializing', 'started')
    on conflict (learner, subject_id) do nothing
returning id;

-- first_move
insert into journey_moves (journey_id, step, event, state)
values (%(id)s, 0, 'started', 'initializing');

-- change
-- What somebody asks of a journey that is not under way.
update journeys
   set purpose = %(purpose)s, depth = %(depth)s, model = %(model)s, facts_min = %(facts_min)s, budget_usd = %(budget_usd)s,
       needs_map = needs_map or %(needs_map)s, key_id = %(key_id)s
 where id = %(id)s
   and step = %(step)s;

-- change_budget
-- Also while it is under way.
update journeys
   set budget_usd = coalesce(%(budget_usd)s, budget_usd), key_id = %(key_id)s
 where id = %(id)s;

-- move
-- Each move names the step that it begins from, so that it happens once, whoever tries it at the same time. A pause
-- keeps its orders, which go on; every other move orders anew, under a key of its own.
with moved as (
  update journeys
     set state = %(state)s, event = %(event)s, reason = %(reason)s, held_state = %(held_state)s, step = step + 1,
         order_step = case when %(keeps_orders)s then order_step else step + 1 end,
         ordered_at = case when %(keeps_orders)s then ordered_at end,
         node_id = coalesce(%(node_id)s::uuid, case when %(keeps_node)s then node_id end),
         quiz_id = case when %(keeps_orders)s then quiz_id end,
         needs_map = needs_map and %(event)s <> 'mapped',
         skipped_node_ids = case %(event)s
                              when 'started' then '{}'
                              when 'node_skipped' then array_append(skipped_node_ids, node_id)
                              else skipped_node_ids
                            end,
         moved_at = now()
   where id = %(id)s
     and step = %(step)s
  returning id, step)
insert into journey_moves (journey_id, step, event, state)
select id, step, %(event)s, %(state)s
  from moved
returning step;

-- settle_costs
-- What batches cost stays known when they are pruned.
update journey_batches jb
   set cost_usd = c.spent_usd + c.unconfirmed_usd
  from batch_costs c
 where jb.journey_id = %(id)s
   and c.batch_id = jb.batch_id
   and jb.cost_usd <> c.spent_usd + c.unconfirmed_usd;

-- ended_key
select name
  from access_keys
 where id = %(key_id)s
   and (revoked_at is not null or expires_at <= now());

-- moves
select step, event, state, at
  from journey_moves
 where journey_id = %(id)s
 order by step desc
 limit %(limit)s;

-- next_review
select min(c.due_at) as due_at
  from review_cards c
  join nodes n on n.id = c.node_id
 where c.learner = %(learner)s
   and (n.subject_id = %(subject_id)s or n.shared_with_subjects @> array[%(subject_id)s::text])
   and n.removed_at is null;

-- has_due_review
-- A quiz passes over questions whose facts no longer stand.
exists (select
          from review_cards c
          join nodes n on n.id = c.node_id
          join questions q on q.node_id = c.node_id and q.question_hash = c.question_hash
         where c.learner = j.learner
           and c.due_at <= now()
           and (n.subject_id = j.subject_id or n.shared_with_subjects @> array[j.subject_id])
           and n.removed_at is null
           and {{stands}})

-- has_open_question
exists (select
          from quizzes z
          join questions q on q.id = any(z.question_ids[z.position + 1:])
         where z.id = j.quiz_id
           and not exists (select
                             from assessments a
                            where a.quiz_id = z.id
                              and a.question_id = q.id)
           and {{stands}})

-- is_review_due
select {{has_due_review}} as is_due
  from journeys j
 where j.id = %(id)s;

-- has_open_orders
exists (select
          from journey_batches jb
          join runs r on r.batch_id = jb.batch_id
         where jb.journey_id = j.id
           and jb.order_step = j.order_step
           and r.state in ('queued', 'running'))

-- has_paused_orders
exists (select
          from journey_batches jb
          join runs r on r.batch_id = jb.batch_id
         where jb.journey_id = j.id
           and jb.order_step = j.order_step
           and r.state = 'paused')

-- has_failed
exists (select from duty_failures f where f.duty = 'journeys' and f.item = j.id::text)

-- is_resting
exists (select from duty_failures f where f.duty = 'journeys' and f.item = j.id::text and f.retry_at > now())

-- due
-- Journeys that something has to be ordered for, or whose orders are done. No lock is held: each move and each order is guarded.
select j.id, {{has_failed}} as has_failed
  from journeys j
 where case
         when j.state = 'idle' and j.event = 'mastered' then {{has_due_review}}
         when j.state = 'idle' then j.event = 'paused' and j.ordered_at is not null and not {{has_paused_orders}}
         when j.state = 'delivering_lesson' then false
         when j.ordered_at is null then true
         when j.state = 'exercising' then not {{has_open_question}} and not {{has_open_orders}}
         else not {{has_open_orders}}
       end
   and (j.state <> 'idle' or j.event in ('mastered', 'paused'))
   and j.id <> all(%(except_ids)s::uuid[])
   and not {{is_resting}}
 order by j.moved_at
 limit %(limit)s;
