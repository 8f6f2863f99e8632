-- owner
select owner
  from batches
 where id = %(id)s
union all
select b.owner
  from runs r
  join batches b on b.id = r.batch_id
 where r.id = %(id)s
union all
select made_by
  from subscriptions
 where id = %(id)s
union all
select owner
  from webhooks
 where id = %(id)s
union all
select w.owner
  from deliveries d
  join webhooks w on w.id = d.webhook_id
 where d.id = %(id)s
union all
select learner
  from quizzes
 where id = %(id)s
union all
select learner
  from journeys
 where id = %(id)s;
