-- The database enforces the budgets of batches against workers of earlier versions. Those from before 0044 count what a batch has
-- cost in its own row, and do not see batch_sums, where later ones count. Workers that name a token see both and are not checked.

-- Whether the holder named no token when it acquired the run: a worker of a version before 0050. Who holds a run now is unknown.
alter table runs add column has_old_holder boolean not null default true;

-- Moves what later versions have counted to the row of the batch, where all versions see it.
-- "or replace": a restore by a version that does not know these functions drops the tables and leaves them behind.
create or replace function show_batch_sums() returns trigger language plpgsql as $$
declare
  sums record;
begin
  with moved as (
    delete from batch_sums where batch_id = new.id returning *)
  select coalesce(sum(spent_usd), 0) as spent_usd, coalesce(sum(spent_tokens), 0) as spent_tokens,
         coalesce(sum(unconfirmed_usd), 0) as unconfirmed_usd, coalesce(sum(unconfirmed_tokens), 0) as unconfirmed_tokens
    into sums
    from moved;
  new.spent_usd := new.spent_usd + sums.spent_usd;
  new.spent_tokens := new.spent_tokens + sums.spent_tokens;
  new.unconfirmed_usd := new.unconfirmed_usd + sums.unconfirmed_usd;
  new.unconfirmed_tokens := new.unconfirmed_tokens + sums.unconfirmed_tokens;
  return new;
end $$;

-- When a worker from before 0044 counts. Later ones write these columns only as they complete the batch, with all that was counted.
create trigger batches_show_sums
  before update of spent_usd, spent_tokens, unconfirmed_usd, unconfirmed_tokens on batches
  for each row
  when (new.finished_at is null and (new.budget_usd is not null or new.budget_tokens is not null))
  execute function show_batch_sums();

-- And when an old worker acquires a run: before its first call.
create or replace function note_holder() returns trigger language plpgsql as $$
begin
  new.has_old_holder := new.token is not distinct from old.token;
  if new.has_old_holder then
    update batches
       set spent_tokens = spent_tokens
     where id = new.batch_id
       and (budget_usd is not null or budget_tokens is not null);
  end if;
  return new;
end $$;

-- Before runs_renew_lease_token by its name: Postgres fires triggers in the order of their names.
create trigger runs_note_holder
  before update of lease on runs
  for each row
  when (new.lease is distinct from old.lease)
  execute function note_holder();

-- What later versions count in between is not in the row yet, so a reservation of an old worker may go beyond the budget. It is
-- refused: the worker makes no call and hands the run back. Whoever acquires it next sees all that was spent, and pauses it.
create or replace function enforce_batch_budget() returns trigger language plpgsql as $$
declare
  budget record;
  counted record;
begin
  -- As a reservation does: with the batch locked, what is spent and reserved can only become less.
  select id, budget_usd, budget_tokens
    into budget
    from batches
   where id = new.batch_id
     and (budget_usd is not null or budget_tokens is not null)
     for no key update;
  if not found then
    return new;
  end if;
  select c.spent_usd + c.unconfirmed_usd as spent_usd, c.spent_tokens + c.unconfirmed_tokens as spent_tokens,
         new.reserved_usd + coalesce(sum(r.reserved_usd), 0) as reserved_usd,
         new.reserved_tokens + coalesce(sum(r.reserved_tokens), 0) as reserved_tokens
    into counted
    from batch_costs c
    left join runs r on r.batch_id = c.batch_id and r.state = 'running' and r.id <> new.id
   where c.batch_id = budget.id
   group by c.spent_usd, c.unconfirmed_usd, c.spent_tokens, c.unconfirmed_tokens;
  if counted.spent_usd + counted.reserved_usd <= coalesce(budget.budget_usd, 'infinity')
     and counted.spent_tokens + counted.reserved_tokens <= coalesce(budget.budget_tokens, 'infinity'::float8) then
    return new;
  end if;
  -- With the result of a tool the next call may reserve, or else reserves for itself: the result is kept.
  if new.steps > old.steps then
    new.reserved_usd := old.reserved_usd;
    new.reserved_tokens := old.reserved_tokens;
    new.reserved_calls := old.reserved_calls;
    new.calls_in_flight := old.calls_in_flight;
    return new;
  end if;
  raise exception using message = format(
    'The budget of batch %s has no room for this call: %s USD and %s tokens are spent, and with it %s USD and %s tokens are reserved.',
    budget.id, counted.spent_usd, counted.spent_tokens, counted.reserved_usd, counted.reserved_tokens);
end $$;

create trigger runs_enforce_batch_budget
  before update of reserved_usd, reserved_tokens on runs
  for each row
  when (new.has_old_holder and new.state = 'running' and old.state = 'running'
        and (new.reserved_tokens > old.reserved_tokens or new.reserved_usd > old.reserved_usd))
  execute function enforce_batch_budget();
