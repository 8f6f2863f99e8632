-- now
select now() as now;

-- of_the_run
-- What a run orders is no way around the budget it was given: neither its own nor that of its batch.
select model, least(runs.budget_usd, batches.budget_usd) as budget_usd
  from runs
  join batches on batches.id = batch_id
 where runs.id = %(run_id)s;

-- lock_subject
-- One at a time for each subject: each sees what the others have made before it counts.
select pg_advisory_xact_lock(hashtextextended('subscriptions ' || %(subject_id)s, 0));

-- by_fingerprint
select id
  from subscriptions
 where fingerprint = %(fingerprint)s
   and state <> 'ended';

-- counts
-- What runs have made and nobody has started yet takes up room for runs, and none for people.
select count(*) filter (where state = 'active') as active,
       count(*) filter (where state = 'paused' and run_id is not null and times = 0) as unstarted
  from subscriptions
 where subject_id = %(subject_id)s
   and state <> 'ended';

-- insert
insert into subscriptions (id, subject_id, topics, role, model, cron, time_zone, budget_usd, made_by, key_id, run_id,
                           fingerprint, state, reason, next_at, ends_at, recheck, context)
values (%(id)s, %(subject_id)s, %(topics)s, %(role)s, %(model)s, %(cron)s, %(time_zone)s, %(budget_usd)s, %(made_by)s,
        %(key_id)s, %(run_id)s, %(fingerprint)s, %(state)s, %(reason)s, %(next_at)s, %(ends_at)s, %(recheck)s, %(context)s);

-- columns
id, subject_id, topics, context, role, model, cron, time_zone, budget_usd, made_by, run_id, state, reason, next_at, last_due_at,
       last_batch_id, last_finished_at, last_counts, times, times_skipped, ends_at, recheck, created_at

-- with_last
subscriptions s
  left join lateral (
    select b.id as last_batch_id, b.finished_at as last_finished_at,
           case when b.compared_at >= b.finished_at then b.difference end as last_counts
      from batches b
     where b.subscription_id = s.id
     order by b.due_at desc
     limit 1) last on true

-- get
select {{columns}}
  from {{with_last}}
 where id = %(id)s;

-- newest
select {{columns}}
  from {{with_last}}
 where (%(before)s::uuid is null or id < %(before)s)
   and (%(subject_id)s::text is null or subject_id = %(subject_id)s)
   and (%(owner)s::text is null or made_by = %(owner)s)
 order by id desc
 limit %(limit)s;

-- lock
select id
  from subscriptions
 where id = %(id)s
   for update;

-- pause
update subscriptions
   set state = 'paused',
       next_at = null,
       reason = %(reason)s
 where id = %(id)s;

-- resume
update subscriptions
   set state = 'active',
       next_at = %(next_at)s,
       reason = '',
       refused_since = null
 where id = %(id)s;

-- remove
delete from subscriptions
 where id = %(id)s
returning id;

-- started
select 1 as is_started
  from runs
 where id = %(run_id)s
   and subscription_id is not null;
