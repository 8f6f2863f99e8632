-- columns
d.id, d.webhook_id, d.kind, d.payload, d.state, d.tries, case when d.state = 'waiting' then d.due_at end as due_at, d.status,
       d.error, d.created_at, d.finished_at

-- newest
select {{columns}}
  from deliveries d
 where d.webhook_id = %(webhook_id)s
   and (%(before)s::uuid is null or d.id < %(before)s)
 order by d.id desc
 limit %(limit)s;

-- get
select {{columns}}
  from deliveries d
  join webhooks w on w.id = d.webhook_id
 where d.id = %(id)s
   and (%(owner)s::text is null or w.owner = %(owner)s);

-- insert
insert into deliveries (id, webhook_id, kind, payload)
values (%(id)s, %(webhook_id)s, %(kind)s, %(payload)s);

-- resend
update deliveries d
   set state = 'waiting',
       tries = 0,
       due_at = now(),
       finished_at = null
  from webhooks w
 where d.id = %(id)s
   and w.id = d.webhook_id
   and w.state = 'active'
returning d.id;

-- due_endpoints
select w.id
  from webhooks w
 where w.state = 'active'
   and (w.claimed_until is null or w.claimed_until <= now())
   and w.owner <> all(%(full_owners)s::text[])
   and exists (select from deliveries d where d.webhook_id = w.id and d.state = 'waiting' and d.due_at <= now())
   and not exists (select from duty_failures f where f.duty = 'deliveries' and f.item = w.id::text and f.retry_at > now());

-- claim_endpoint
-- A webhook that nobody sends to and that has a delivery due. Whoever dies with it loses it at claimed_until, and what it says
-- later does not count. Not `for update`, which would wait for all that insert deliveries meanwhile.
update webhooks
   set claims = claims + 1,
       claimed_until = now() + %(claim_for)s
 where id = (
   select w.id
     from webhooks w
    cross join lateral (
      select d.due_at
        from deliveries d
       where d.webhook_id = w.id
         and d.state = 'waiting'
         and d.due_at <= now()
       order by d.due_at
       limit 1) due
    where w.state = 'active'
      and (w.claimed_until is null or w.claimed_until <= now())
      and (%(only_id)s::uuid is null or w.id = %(only_id)s)
      and w.owner <> all(%(full_owners)s::text[])
      and not exists (select
                        from duty_failures f
                       where f.duty = 'deliveries'
                         and f.item = w.id::text
                         and f.retry_at > now())
    order by due.due_at, w.id
    limit 1
      for no key update of w skip locked)
returning id, owner, url, format, secret, claims, failing_since < now() - %(patience)s as has_failed_for_long,
          exists (select from duty_failures f where f.duty = 'deliveries' and f.item = webhooks.id::text) as has_broken;

-- begin_try
-- A statement of its own: it sees what whoever had the webhook before has settled.
update deliveries
   set tries = tries + 1
 where id = (
   select id
     from deliveries
    where webhook_id = %(webhook_id)s
      and state = 'waiting'
      and due_at <= now()
    order by due_at, id
    limit 1)
returning id, payload, tries;

-- settle
-- It was delivered, is tried again later, or has failed for good; so has the webhook, where `off` says why.
with endpoint as (
  update webhooks
     set claimed_until = case when %(state)s = 'delivered' then null else now() + %(rest)s end,
         failing_since = case when %(state)s <> 'delivered' then coalesce(failing_since, now()) end,
         state = case when %(off)s = '' then state else 'off' end,
         reason = case when %(off)s = '' then reason else %(off)s end
   where id = %(webhook_id)s
     and claims = %(claims)s
  returning id)
update deliveries d
   set state = %(state)s,
       due_at = now() + %(due_in)s,
       status = %(status)s,
       error = %(error)s,
       finished_at = case when %(state)s <> 'waiting' then now() end
  from endpoint
 where d.id = %(id)s
   and d.state = 'waiting'
returning d.id;

-- give_up
update deliveries
   set state = 'failed',
       error = %(error)s,
       finished_at = now()
 where webhook_id = %(webhook_id)s
   and state = 'waiting';

-- release
update webhooks
   set claimed_until = null
 where id = %(webhook_id)s
   and claims = %(claims)s;

-- forget
delete from deliveries
 where id < %(before)s
   and state <> 'waiting';
