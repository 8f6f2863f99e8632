-- columns
id, owner, url, kinds, format, state, reason, failing_since, created_at,
       (select jsonb_build_object('id', d.id, 'kind', d.kind, 'state', d.state, 'status', d.status, 'error', d.error,
                                  'created_at', d.created_at, 'finished_at', d.finished_at)
          from deliveries d
         where d.webhook_id = webhooks.id
         order by d.id desc
         limit 1) as last_delivery

-- lock_owner
-- One at a time for each owner: each sees what the others have made before it counts.
select pg_advisory_xact_lock(hashtextextended('webhooks ' || %(owner)s, 0));

-- count
select count(*)::int as webhooks
  from webhooks
 where owner = %(owner)s;

-- insert
insert into webhooks (id, owner, url, kinds, format, secret)
values (%(id)s, %(owner)s, %(url)s, %(kinds)s, %(format)s, %(secret)s)
returning {{columns}};

-- get
select {{columns}}
  from webhooks
 where id = %(id)s
   and (%(owner)s::text is null or owner = %(owner)s);

-- newest
select {{columns}}
  from webhooks
 where (%(owner)s::text is null or owner = %(owner)s)
   and (%(before)s::uuid is null or id < %(before)s)
 order by id desc
 limit %(limit)s;

-- remove
delete from webhooks
 where id = %(id)s
   and (%(owner)s::text is null or owner = %(owner)s)
returning id;

-- pause
-- One that is off stays off, with its reason.
update webhooks
   set state = 'paused'
 where id = %(id)s
   and state = 'active';

-- resume
update webhooks
   set state = 'active',
       reason = '',
       failing_since = null
 where id = %(id)s
   and state <> 'active';
