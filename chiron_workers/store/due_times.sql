-- lock
-- One worker at a time; the others have nothing to add. Of one that is stopped in the middle of a look Postgres ends
-- the session, and the others go on.
select pg_try_advisory_xact_lock(7201849) as held, set_config('lock_timeout', '5s', true),
       set_config('idle_in_transaction_session_timeout', '20s', true);

-- due
select s.id, subject_id, topics, role, model, cron, time_zone, budget_usd, next_at, ends_at, now() as now,
       exists (select from subjects where subjects.id = s.subject_id) as has_subject,
       last.id as last_batch_id, last.due_at as last_due_at, last.open_runs > 0 as is_last_open
  from subscriptions s
  left join lateral (
    select id, due_at, open_runs from batches b where b.subscription_id = s.id order by b.due_at desc limit 1) last on true
 where state = 'active' and next_at <= now()
 order by next_at, s.id limit %(limit)s for update of s skip locked;

-- earlier
-- When each topic was last looked into, and what was found when something was. What a run answered that has read
-- private files is left out: the next one would hold their words and yet fetch whatever it likes.
select topic,
       (select started_at from runs r where r.subscription_id = %(id)s and r.topic = t.topic and r.state = 'completed'
         order by r.id desc limit 1) as since,
       (select left(answer, %(chars)s) from runs r where r.subscription_id = %(id)s and r.topic = t.topic and r.state = 'completed'
           and not r.silent and not exists (select from private_runs p where p.run_id = r.id)
         order by r.id desc limit 1) as found
  from unnest(%(topics)s::text[]) with ordinality as t (topic, place) order by place;

-- advance
update subscriptions
   set state = %(state)s, next_at = %(next_at)s, reason = %(reason)s,
       last_due_at = case when %(outcome)s = 'started' then next_at else last_due_at end,
       times = times + case when %(outcome)s = 'started' then 1 else 0 end,
       times_skipped = times_skipped + case when %(outcome)s = 'skipped' then 1 else 0 end
 where id = %(id)s;
