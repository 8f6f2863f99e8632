-- occurrences
-- The latest occurrences of a subscription, or one of them by its batch. What the one before had brought was known at
-- its end; one before that was retried since then counts as it was when this one began.
select b.id as batch_id, b.subject_id, b.due_at, b.finished_at, now() as now,
       least(b.created_at,
             coalesce((select max(e.finished_at)
                         from batches e
                        where e.subscription_id = b.subscription_id
                          and e.due_at < b.due_at), b.created_at)) as since
  from batches b
 where b.subscription_id = %(subscription_id)s
   and (%(batch_id)s::uuid is null or b.id = %(batch_id)s)
 order by b.due_at desc
 limit %(limit)s;

-- subscription_of
select subscription_id
  from batches
 where id = %(batch_id)s
   and subscription_id is not null;

-- to_compare
-- Of a batch that ended by a clock ahead of ours nothing can be said yet.
select id as batch_id, subscription_id,
       exists (select from duty_failures f where f.duty = 'comparisons' and f.item = batches.id::text) as has_failed
  from batches
 where subscription_id is not null
   and finished_at <= now()
   and (compared_at is null or compared_at < finished_at)
   and not exists (select
                     from duty_failures f
                    where f.duty = 'comparisons'
                      and f.item = batches.id::text
                      and f.retry_at > now())
 order by finished_at
 limit %(limit)s;

-- silence
-- A batch that goes on again meanwhile is left alone, and so is a run that somebody has written to.
update runs
   set silent = true
 where id = any(array(
         select r.id
           from runs r
           join batches b on b.id = r.batch_id
          where b.id = %(batch_id)s
            and b.finished_at = %(finished_at)s
            and r.state = 'completed'
            and not r.silent
            and not exists (select from inbox i where i.run_id = r.id)
          order by r.id
            for update of r))
   and state = 'completed';

-- compared
-- One worker alone, so that news are announced once.
update batches
   set compared_at = now(),
       difference = %(counts)s
 where id = %(batch_id)s
   and finished_at = %(finished_at)s
   and (compared_at is null or compared_at < finished_at)
returning subscription_id;
