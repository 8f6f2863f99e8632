-- What writers are about to store, each from just before it compares its fact to its commit, so that writers of one subject see
-- each other and only those wait whose facts have to do with one another. The order of the numbers is that of the writers. Not
-- logged: a crash of Postgres ends every writer too.
create table fact_intents (
  id bigint generated always as identity,
  key uuid primary key,
  subject_id text not null,
  space text not null,
  content text not null,
  embedding halfvec not null,
  at timestamptz not null default clock_timestamp()
);
create index fact_intents_in_order on fact_intents (subject_id, id);
alter table fact_intents set unlogged;

-- Fails a transaction whose run another worker has by now, so that its commit can be sent along with its last statement.
create function lease_lost() returns bigint
language plpgsql as $$
begin
  raise exception 'the lease is lost' using errcode = 'CL001';
end
$$;
