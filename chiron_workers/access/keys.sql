-- columns
id, name, owner, scope, budget_usd, budget_period, requests_per_minute, created_at, last_used_at, expires_at, revoked_at

-- free_name
-- The name of an expired key is free again.
update access_keys
   set revoked_at = expires_at
 where name = %(name)s
   and revoked_at is null
   and expires_at <= now();

-- insert
insert into access_keys (id, name, owner, scope, hash, budget_usd, budget_period, requests_per_minute, expires_at)
values (%(id)s, %(name)s, %(owner)s, %(scope)s, %(hash)s, %(budget_usd)s, %(budget_period)s, %(requests_per_minute)s,
        %(expires_at)s)
    on conflict (name) where revoked_at is null do nothing
returning {{columns}};

-- all
select {{columns}}
  from access_keys
 where %(with_revoked)s
    or revoked_at is null
 order by id
 limit %(limit)s;

-- revoke
update access_keys
   set revoked_at = now()
 where name = %(name)s
   and revoked_at is null
returning {{columns}};

-- by_hash
select {{columns}},
       coalesce(expires_at <= now(), false) as is_expired
  from access_keys
 where hash = %(hash)s;

-- use
-- A window of a minute begins with the first request after the last one is over.
update access_keys
   set last_used_at = now(),
       window_requests = case when window_began_at > now() - interval '1 minute' then window_requests + 1 else 1 end,
       window_began_at = case when window_began_at > now() - interval '1 minute' then window_began_at else now() end
 where id = %(id)s
   and (requests_per_minute is null
        or window_requests < requests_per_minute
        or window_began_at is null
        or window_began_at <= now() - interval '1 minute')
returning id;

-- seconds_left
select greatest(1, ceil(extract(epoch from window_began_at + interval '1 minute' - now())))::int as seconds
  from access_keys
 where id = %(id)s;
