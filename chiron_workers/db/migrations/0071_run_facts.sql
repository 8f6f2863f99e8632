-- Which facts a run met, and how: it stored one, confirmed one that was there, a search returned one, its answer or a cell of its rows
-- cites one. `fact_id` is no foreign key: each search would lock the facts that it returns. Deleted facts take their rows along.
create table run_facts (
  run_id uuid not null,
  fact_id uuid not null,
  how text not null constraint run_facts_how_is_known check (how in ('stored', 'confirmed', 'searched', 'cited')),
  at timestamptz not null default now()
);

-- What runs before this stored and confirmed. The rest, a worker reads from their tool results and answers (knowledge/run_facts.py).
-- This part takes long (ten seconds for a million facts), and holds up nobody: the strong locks come after it.
insert into run_facts (run_id, fact_id, how, at)
select run_id, id, 'stored', created_at
  from facts
 where run_id is not null
union all
select c.run_id, c.fact_id, 'confirmed', min(c.created_at)
  from corroborations c
  join facts f on f.id = c.fact_id
 where c.run_id is not null
   and f.run_id is distinct from c.run_id
 group by c.run_id, c.fact_id;

alter table run_facts add primary key (run_id, fact_id, how);
create index run_facts_of_a_fact on run_facts (fact_id);

alter table duty_failures drop constraint duty_failures_duty_is_known;
alter table duty_failures add constraint duty_failures_duty_is_known check (
  duty in ('rescue', 'dispatch', 'batches', 'subscriptions', 'comparisons', 'journeys', 'rechecks', 'deliveries', 'vector_indexes', 'words',
           'fact_records'));

-- `cited` counts the facts that a run's answer or rows cite and that it neither stored nor confirmed. `recorded_leases` counts the
-- leases under which all facts that it met were recorded; a worker of the version before counts none. As many as `lease`: run_facts is
-- complete. Fewer: a worker reads the rest from what is left of the run once it has ended. -1: its journal was pruned before that.
lock table runs in access exclusive mode;
lock table facts, corroborations in share row exclusive mode;
alter table runs
  add column cited int not null default 0,
  add column recorded_leases int not null default 0;
create index runs_to_record on runs (id)
 where recorded_leases between 0 and lease - 1 and state in ('completed', 'failed', 'cancelled');
alter table run_facts add constraint run_facts_run_id_fkey foreign key (run_id) references runs on delete cascade;

create or replace function note_stored_fact() returns trigger language plpgsql as $$
begin
  insert into run_facts (run_id, fact_id, how) values (new.run_id, new.id, 'stored') on conflict do nothing;
  return null;
end $$;
create trigger facts_are_met_by_their_runs after insert on facts for each row
  when (new.run_id is not null and current_setting('chiron.restores', true) is distinct from 'on')
  execute function note_stored_fact();

create or replace function note_confirmed_fact() returns trigger language plpgsql as $$
begin
  insert into run_facts (run_id, fact_id, how)
  select new.run_id, id, 'confirmed'
    from facts
   where id = new.fact_id
     and run_id is distinct from new.run_id
      on conflict do nothing;
  return null;
end $$;
create trigger facts_are_met_by_runs_that_confirm_them after insert on corroborations for each row
  when (new.run_id is not null and current_setting('chiron.restores', true) is distinct from 'on')
  execute function note_confirmed_fact();

create or replace function forget_met_facts() returns trigger language plpgsql as $$
begin
  delete from run_facts using gone where fact_id = gone.id;
  return null;
end $$;
create trigger deleted_facts_were_met_by_nobody after delete on facts
  referencing old table as gone for each statement execute function forget_met_facts();

-- What was stored between the fill and the locks.
insert into run_facts (run_id, fact_id, how, at)
select run_id, id, 'stored', created_at
  from facts
 where run_id is not null
   and created_at > now() - interval '1 day'
union all
select c.run_id, c.fact_id, 'confirmed', c.created_at
  from corroborations c
  join facts f on f.id = c.fact_id
 where c.run_id is not null
   and f.run_id is distinct from c.run_id
   and c.created_at > now() - interval '1 day'
    on conflict do nothing;
