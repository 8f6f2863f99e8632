-- What a call can cost is reserved before it is made: on the run's own row, where the lease says whose it is.
-- What was reserved by a holder that is lost is unconfirmed: it may have been billed, and nobody has the reply.

alter table batches
  add column budget_tokens bigint constraint batches_budget_tokens_is_positive check (budget_tokens > 0),
  add column spent_tokens bigint not null default 0,
  add column unconfirmed_usd numeric(14, 6) not null default 0,
  add column unconfirmed_tokens bigint not null default 0;

alter table runs
  add column budget_usd numeric(14, 6) constraint runs_budget_is_positive check (budget_usd > 0),
  add column budget_tokens bigint constraint runs_budget_tokens_is_positive check (budget_tokens > 0),
  add column spent_tokens bigint not null generated always as
    (input_tokens + output_tokens + cache_write_tokens + cache_read_tokens) stored,
  add column reserved_usd numeric(14, 6) not null default 0,
  add column reserved_tokens bigint not null default 0,
  add column reserved_calls int not null default 0,
  add column unconfirmed_usd numeric(14, 6) not null default 0,
  add column unconfirmed_tokens bigint not null default 0,
  add column unconfirmed_calls int not null default 0;

update batches set spent_tokens = sums.tokens
  from (select batch_id, sum(spent_tokens) as tokens from runs group by batch_id) sums where batches.id = sums.batch_id;

-- What was spent on each day (UTC). Many rows a day, so that no two runs wait for each other's commit.
create table spending (
  day date not null,
  shard smallint not null,
  usd numeric(14, 6) not null default 0,
  primary key (day, shard)
) with (fillfactor = 70);
