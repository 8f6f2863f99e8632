-- A run has a number in its batch, and a context of its own; a batch says what it was started for; topics that read alike are found.

alter table runs
  add column number int not null default 0,  -- from 1, in the order of the topics as they were submitted; it never changes
  add column context text;                   -- the user's words on this topic, for its run alone
alter table subscriptions add column context text;
alter table batches
  add column precedents json,  -- what its receipt said of new subjects and of topics that were answered before
  add column kind text not null default 'research'
    constraint batches_kind_is_known check (kind in ('research', 'report', 'check', 'learning'));

-- Of a batch that has lost runs, those that are left.
update runs
   set number = numbered.number
  from (select id, row_number() over (partition by batch_id order by id) as number
          from runs) numbered
 where runs.id = numbered.id;

update batches b
   set kind = case when idempotency_key ~ '(^|: )report [0-9a-f]+$' then 'report'
                   when idempotency_key ~ '(^|: )check [0-9a-f]+$' then 'check'
                   else 'learning' end
 where idempotency_key ~ '(^|: )(report|check|curriculum|lesson|questions|marks|research) [0-9a-z -]+$'
   and name ~ '^(Report|Check|Map|Lesson|Questions|Marks|Research): '
    or exists (select from journey_batches j where j.batch_id = b.id and j.is_own);

create unique index runs_number on runs (batch_id, number) where number > 0;
create index batches_of_research on batches (id) where kind = 'research' and subscription_id is null;

-- Submitters of the version before name no number. The first of their rows numbers all of them, once all are there.
-- "or replace": a restore by a version that does not know this function drops the tables and leaves it behind.
create or replace function number_runs() returns trigger language plpgsql as $$
begin
  if exists (select from runs where id = new.id and number = 0) then
    update runs
       set number = numbered.number
      from (select id,
                   row_number() over (order by id)
                     + (select coalesce(max(number), 0) from runs where batch_id = new.batch_id) as number
              from runs
             where batch_id = new.batch_id
               and number = 0) numbered
     where runs.id = numbered.id;
  end if;
  return null;
end $$;

-- After the rows, so that a copy of many still writes them by the page.
create trigger runs_number_new_rows
  after insert on runs
  for each row
  when (new.number = 0)
  execute function number_runs();

-- What topics share that read alike, and some that do not: letters and digits without case. `batches/topics.py` (`comparable`) decides.
create or replace function topic_key(topic text) returns text language sql immutable parallel safe as
$$ select md5(regexp_replace(lower(topic), '[^[:alnum:]]+', '', 'g')) $$;

create index runs_answered_topics on runs (subject_id, topic_key(topic)) where state = 'completed';
