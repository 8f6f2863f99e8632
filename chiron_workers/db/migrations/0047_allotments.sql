-- The ledger of what keys give to batches: a row for each act that gives money or takes it back, none for a call. Rows are
-- only added. What is given to a run is for a run of a batch that no budget binds; else the batch's budget is shared by its runs.
create table allotments (
  id bigint generated always as identity primary key, -- the order of acts, which those on one batch have by its lock
  at timestamptz not null default clock_timestamp(), -- of what was spent: when the batch ended
  act text not null constraint allotments_act_is_known
    check (act in ('opening', 'submit', 'raise', 'retry', 'say', 'returned', 'spent')),
  owner text not null,
  key_id uuid, -- null: the user of this machine, who has no budget
  batch_id uuid, -- null: of batches that were deleted before this table was there
  run_id uuid, -- null: the whole batch
  allotment_id bigint, -- which one is returned
  amount_usd numeric(14, 6), -- null: no budget binds what was submitted
  constraint allotments_return_names_what_it_takes_from check ((act = 'returned') = (allotment_id is not null))
);
create index allotments_of_a_key on allotments (key_id) include (act, at, amount_usd) where key_id is not null;
create index allotments_of_a_batch on allotments (batch_id);

-- What is left of each allotment, once what was returned of it is taken off.
create view allotment_balances as
select a.id, a.owner, a.key_id, a.batch_id, a.run_id, a.amount_usd + coalesce(r.usd, 0) as usd
  from allotments a
  left join lateral (
    select sum(amount_usd) as usd
      from allotments
     where batch_id = a.batch_id
       and allotment_id = a.id) r
    on true
 where a.act not in ('returned', 'spent')
   and a.amount_usd + coalesce(r.usd, 0) > 0;

-- Replaces what is left of the allotments of a batch or a run by what was spent of each. Money that was given earlier is
-- spent earlier; before all of it stands the part of the budget that no row speaks of: what was settled before.
create function settle_allotments(of_batch uuid, of_run uuid, budget numeric, cost numeric, ended_at timestamptz)
returns void language sql as $$
with spans as (
  select id, owner, key_id, usd,
         greatest(coalesce(budget, 0) - sum(usd) over (), 0) + sum(usd) over (order by id) - usd as begins_at,
         id = max(id) over () as is_last
    from allotment_balances
   where batch_id = of_batch
     and run_id is not distinct from of_run),
returned as (
  insert into allotments (at, act, owner, key_id, batch_id, run_id, allotment_id, amount_usd)
  select ended_at, 'returned', owner, key_id, of_batch, of_run, id, -usd
    from spans
   order by id)
insert into allotments (at, act, owner, key_id, batch_id, run_id, amount_usd)
select ended_at, 'spent', owner, key_id, of_batch, of_run,
       case when is_last then cost - begins_at else least(usd, cost - begins_at) end
  from spans
 where cost > begins_at
 order by id
$$;

create function settle_batch(of_batch uuid, ended_at timestamptz) returns void language plpgsql as $$
begin
  perform settle_allotments(b.id, null, b.budget_usd, c.spent_usd + c.unconfirmed_usd, ended_at)
     from batches b
     join batch_costs c on c.batch_id = b.id
    where b.id = of_batch;
  -- A run that a process of the version before has deleted counts with all that it was given.
  perform settle_allotments(of_batch, g.run_id, coalesce(r.budget_usd, g.usd), coalesce(r.spent_usd + r.unconfirmed_usd, g.usd), ended_at)
     from (select run_id, sum(usd) as usd
             from allotment_balances
            where batch_id = of_batch
              and run_id is not null
            group by run_id) g
     left join runs r on r.id = g.run_id;
end
$$;

-- Triggers, so that processes of the version before write these rows as well. A restore copies the rows that there were.
create function allot_submitted_batch() returns trigger language plpgsql as $$
begin
  insert into allotments (act, owner, key_id, batch_id, amount_usd)
  values ('submit', new.owner, new.key_id, new.id, new.budget_usd);
  return null;
end
$$;
create trigger allot_submitted_batch after insert on batches
  for each row when (current_setting('chiron.restores', true) is distinct from 'on')
  execute function allot_submitted_batch();

create function settle_ended_batch() returns trigger language plpgsql as $$
begin
  perform settle_batch(new.id, new.finished_at);
  return null;
end
$$;
create trigger settle_ended_batch after update of finished_at on batches
  for each row when (old.finished_at is null and new.finished_at is not null)
  execute function settle_ended_batch();

-- Where a batch is deleted before anybody has said that it ended.
create function settle_deleted_batch() returns trigger language plpgsql as $$
begin
  perform settle_batch(old.id, now());
  return old;
end
$$;
create trigger settle_deleted_batch before delete on batches
  for each row when (old.finished_at is null)
  execute function settle_deleted_batch();

-- Processes of the version before raise and open again without a row, at the expense of the key that submitted: this one is for
-- them. Those of this version say that they write it themselves.
create function allot_for_submitter() returns trigger language plpgsql as $$
declare
  usd numeric := new.budget_usd - coalesce(old.budget_usd, new.budget_usd);
begin
  if old.finished_at is not null then
    select greatest(new.budget_usd - spent_usd - unconfirmed_usd, 0) into usd from batch_costs where batch_id = new.id;
  end if;
  if usd > 0 then
    insert into allotments (act, owner, key_id, batch_id, amount_usd)
    values (case when old.finished_at is null then 'raise' else 'retry' end, new.owner, new.key_id, new.id, usd);
  end if;
  return null;
end
$$;
create trigger allot_for_submitter after update of budget_usd, finished_at on batches
  for each row when (new.finished_at is null and current_setting('chiron.allots', true) is distinct from 'on')
  execute function allot_for_submitter();

-- The ledger begins with what is open, and with what batches that have ended or were deleted have spent.
insert into allotments (at, act, owner, key_id, batch_id, amount_usd)
select created_at, 'opening', owner, key_id, id, budget_usd
  from batches
 where finished_at is null
 order by id;

insert into allotments (at, act, owner, key_id, batch_id, amount_usd)
select b.finished_at, 'spent', b.owner, b.key_id, b.id, c.spent_usd + c.unconfirmed_usd
  from batches b
  join batch_costs c on c.batch_id = b.id
 where b.finished_at is not null
   and b.key_id is not null
 order by b.id;

insert into allotments (at, act, owner, key_id, amount_usd)
select s.day::timestamp at time zone 'utc', 'spent', k.owner, s.key_id, s.usd
  from access_key_spending s
  join access_keys k on k.id = s.key_id
 order by s.day;
