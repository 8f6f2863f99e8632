-- A random token for each acquisition of a run, beside the number of its lease. A failover to a standby that lagged behind
-- takes the number back, and the next acquisition gives it out again; the token is never given out twice.

-- Zero until the next acquisition. A default that is the same for all rows rewrites no table.
alter table runs add column token uuid not null default '00000000-0000-0000-0000-000000000000';

-- Null in rows of workers of the version before, which compare the number alone.
alter table entries add column token uuid;
alter table side_replies add column token uuid;

-- Workers of the version before raise the number and name no token.
-- "or replace": a restore by a version that does not know this function drops the tables and leaves it behind.
create or replace function renew_lease_token() returns trigger language plpgsql as $$
begin
  new.token := gen_random_uuid();
  return new;
end $$;

-- Only acquisitions name the number, so no write of a turn fires it.
create trigger runs_renew_lease_token
  before update of lease on runs
  for each row
  when (new.lease is distinct from old.lease and new.token is not distinct from old.token)
  execute function renew_lease_token();
