-- Items that a duty of workers has failed at, such as a subscription that cannot be started or a delivery that Postgres refuses to
-- settle. Each is left alone until retry_at, and the others have their turn. Workers of the version before know none of this.
create table duty_failures (
  duty text not null constraint duty_failures_duty_is_known check (
    duty in ('rescue', 'dispatch', 'batches', 'subscriptions', 'comparisons', 'journeys', 'rechecks', 'deliveries', 'vector_indexes', 'words')),
  item text not null,                -- the id of its row
  reason text not null,              -- of the last failure
  failures int not null default 1 check (failures > 0),  -- in a row
  failed_at timestamptz not null default now(),
  retry_at timestamptz not null,
  primary key (duty, item)
);

-- A recheck whose worker was told to stop has not failed, and uses up no try.
alter table rechecks add column releases int not null default 0;
