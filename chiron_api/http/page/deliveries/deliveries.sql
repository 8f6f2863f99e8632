-- newest
-- Webhooks are few, and each has an index of its deliveries: those of one owner are not looked for among all.
select d.id, d.webhook_id, d.kind, d.payload -> 'data' ->> 'link' as link, d.state, d.tries, d.status, d.error,
       d.created_at, d.finished_at, case when d.state = 'waiting' then d.due_at end as due_at,
       w.url, w.format, w.owner, w.state as webhook_state
  from webhooks w
 cross join lateral (
       select *
         from deliveries
        where webhook_id = w.id
          and (%(before)s::uuid is null or id < %(before)s)
        order by id desc
        limit %(limit)s) d
 where (%(owner)s::text is null or w.owner = %(owner)s)
 order by d.id desc
 limit %(limit)s;
