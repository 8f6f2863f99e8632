-- due
-- All workers may look at once, and no lock is held while one starts what it found: it would have to wait for
-- connections that the runs of its worker have. The key of the batch and the fence of `advance` let only one of them
-- count. What this worker has left to others is for them, until all of them have had hours for it.
select s.id, subject_id, topics, context, role, model, cron, time_zone, budget_usd, next_at, ends_at, now() as now, made_by, key_id,
       (select name from access_keys k where k.id = key_id and (revoked_at is not null or expires_at <= now()))
         as ended_key,
       coalesce(refused_since < now() - %(patience)s, false) as is_given_up,
       exists (select from subjects where subjects.id = s.subject_id) as has_subject,
       exists (select from duty_failures f where f.duty = 'subscriptions' and f.item = s.id::text) as has_failed,
       last.id as last_batch_id, last.due_at as last_due_at, last.open_runs > 0 as is_last_open
  from subscriptions s
  left join lateral (
    select id, due_at, open_runs
      from batches b
     where b.subscription_id = s.id
     order by b.due_at desc
     limit 1) last on true
 where state = 'active'
   and next_at <= now()
   and (refused_since < now() - %(patience)s
        or not exists (select
                         from unnest(%(left_ids)s::uuid[], %(left_at)s::timestamptz[]) as l (id, due_at)
                        where l.id = s.id
                          and l.due_at = s.next_at))
   and not exists (select
                     from duty_failures f
                    where f.duty = 'subscriptions'
                      and f.item = s.id::text
                      and f.retry_at > now())
 order by next_at, s.id
 limit %(limit)s;

-- earlier
-- When each topic was last looked into, and what was found when something was; nothing if this time is no longer due.
-- What a run answered that has read private files is left out: the next one would hold their words and yet fetch
-- whatever it likes.
select topic,
       (select started_at
          from runs r
         where r.subscription_id = %(id)s
           and r.topic = t.topic
           and r.state = 'completed'
         order by r.id desc
         limit 1) as since,
       (select left(answer, %(chars)s)
          from runs r
         where r.subscription_id = %(id)s
           and r.topic = t.topic
           and r.state = 'completed'
           and not r.silent
           and not exists (select from private_runs p where p.run_id = r.id)
         order by r.id desc
         limit 1) as found
  from subscriptions s
 cross join unnest(s.topics) with ordinality as t (topic, place)
 where s.id = %(id)s
   and (%(is_by_hand)s or s.state = 'active' and s.next_at = %(due_at)s)
 order by place;

-- fail
-- The reason stands where people look for it.
update subscriptions
   set reason = %(reason)s
 where id = %(id)s
   and state = 'active'
   and next_at = %(due_at)s;

-- refuse
update subscriptions
   set reason = %(reason)s,
       refused_since = coalesce(refused_since, now())
 where id = %(id)s
   and state = 'active'
   and next_at = %(due_at)s;

-- advance
-- What a time has started besides its batch is ordered with it; an order that is still open will do.
with advanced as (
  update subscriptions
     set state = %(state)s,
         next_at = %(next_at)s,
         reason = %(reason)s,
         refused_since = null,
         last_due_at = case when %(outcome)s = 'started' then next_at else last_due_at end,
         times = times + case when %(outcome)s = 'started' then 1 else 0 end,
         times_skipped = times_skipped + case when %(outcome)s = 'skipped' then 1 else 0 end
   where id = %(id)s
     and state = 'active'
     and next_at = %(due_at)s
  returning id, subject_id, recheck and %(outcome)s = 'started' as rechecks
), ordered as (
  insert into rechecks (id, subject_id, subscription_id)
  select %(recheck_id)s, subject_id, id
    from advanced
   where rechecks
  on conflict (subject_id) where finished_at is null do nothing
)
select id
  from advanced;

-- by_hand
select s.id, subject_id, topics, context, role, model, cron, time_zone, budget_usd, ends_at, made_by, state, now() as next_at,
       exists (select from subjects where subjects.id = s.subject_id) as has_subject,
       last.id as last_batch_id, last.open_runs > 0 as is_last_open
  from subscriptions s
  left join lateral (
    select id, open_runs
      from batches b
     where b.subscription_id = s.id
     order by b.due_at desc
     limit 1) last on true
 where s.id = %(id)s;

-- count_by_hand
-- Its next time stays; what it started besides its batch is ordered as with `advance`.
with counted as (
  update subscriptions
     set last_due_at = %(due_at)s,
         times = times + 1
   where id = %(id)s
  returning id, subject_id, recheck
)
insert into rechecks (id, subject_id, subscription_id)
select %(recheck_id)s, subject_id, id
  from counted
 where recheck
on conflict (subject_id) where finished_at is null do nothing;
