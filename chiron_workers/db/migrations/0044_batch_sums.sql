-- What the batches under way have cost, in several rows each, so that no run waits for another one's commit. The sums of a
-- batch that has ended stand in its own row, as those of all batches did; both add up, so nothing has to be moved.
create table batch_sums (
  batch_id uuid not null references batches on delete cascade,
  shard smallint not null,
  spent_usd numeric(14, 6) not null default 0,
  spent_tokens bigint not null default 0,
  unconfirmed_usd numeric(14, 6) not null default 0,
  unconfirmed_tokens bigint not null default 0,
  primary key (batch_id, shard)
) with (fillfactor = 50);

create view batch_costs as
select b.id as batch_id,
       b.spent_usd + coalesce(s.spent_usd, 0) as spent_usd,
       b.spent_tokens + coalesce(s.spent_tokens, 0)::bigint as spent_tokens,
       b.unconfirmed_usd + coalesce(s.unconfirmed_usd, 0) as unconfirmed_usd,
       b.unconfirmed_tokens + coalesce(s.unconfirmed_tokens, 0)::bigint as unconfirmed_tokens
  from batches b
  left join lateral (
    select sum(spent_usd) as spent_usd,
           sum(spent_tokens) as spent_tokens,
           sum(unconfirmed_usd) as unconfirmed_usd,
           sum(unconfirmed_tokens) as unconfirmed_tokens
      from batch_sums
     where batch_id = b.id) s
    on true;

-- Whether a batch has open runs is asked after the end of each; which batches are not completed, every few seconds.
create index runs_open on runs (batch_id) where state in ('queued', 'running', 'paused');
create index batches_open on batches (id) where finished_at is null;

-- batches.open_runs is from here on at least as many as are open, and 0 once the batch is completed: workers of the version
-- before count down from it.
