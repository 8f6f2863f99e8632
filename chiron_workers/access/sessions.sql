-- insert_code
-- What nobody has used in time goes with the next one that is made.
with expired as (
  delete from sign_in_codes
   where expires_at <= now()
)
insert into sign_in_codes (hash, key_id, expires_at)
values (%(hash)s, %(key_id)s, now() + %(valid_for)s);

-- trade
-- A code is gone with its first use, so that two uses at once make one session.
with code as (
  delete from sign_in_codes
   where hash = %(code_hash)s
  returning key_id, expires_at > now() as is_valid
), idle as (
  delete from access_sessions
   where used_at <= now() - %(idle_for)s
)
insert into access_sessions (hash, key_id)
select %(hash)s, key_id
  from code
 where is_valid
returning hash;

-- session
-- The session itself, and its key where it has one.
select s.key_id as session_key_id, s.used_at, k.*, coalesce(k.expires_at <= now(), false) as is_expired
  from access_sessions s
  left join access_keys k on k.id = s.key_id
 where s.hash = %(hash)s
   and s.used_at > now() - %(idle_for)s;

-- touch
update access_sessions
   set used_at = now()
 where hash = %(hash)s
   and used_at < now() - %(at_least)s;

-- close
delete from access_sessions
 where hash = %(hash)s
returning hash;

-- share_secret
insert into access_secrets (name, secret)
values (%(name)s, %(secret)s)
    on conflict (name) do nothing;

-- secret
select secret
  from access_secrets
 where name = %(name)s;
