-- Rules doubt and never confirm: what they alone called supported is unchecked. Confidences stay as they are, and nobody is asked.
-- Three minutes for a million facts. Workers read them meanwhile; what they would write to one of those waits.

-- The ids of a history sort by time.
insert into fact_changes (id, fact_id, confidence, status, reason)
select encode(
         set_bit(set_bit(
           overlay(uuid_send(gen_random_uuid())
                   placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                   from 1 for 6),
           52, 1), 53, 1),
         'hex')::uuid,
       f.id, f.confidence, f.status,
       'rules alone had called it supported, which they cannot tell: it is unchecked until a model is asked'
  from facts f
 where exists (
   select
     from assertions a
    where a.fact_id = f.id
      and a.verdict = 'supported'
      and a.verdict_by = 'rules'
 );
update facts
   set verdict = 'unchecked', verdict_reason = 'No model was asked.', verdict_by = ''
 where verdict = 'supported'
   and verdict_by = 'rules';
update corroborations
   set verdict = 'unchecked', verdict_reason = 'No model was asked.', verdict_by = ''
 where verdict = 'supported'
   and verdict_by = 'rules';

-- Sentences and cells have no history. An empty `verdict_by` says that nobody has judged them.
update draft_sentences
   set verdict_reason = 'In its fact''s words, meaning unchecked.', verdict_by = ''
 where verdict_by = 'rules';
update lesson_sentences
   set verdict_reason = 'In its fact''s words, meaning unchecked.', verdict_by = ''
 where verdict_by = 'rules';
update answer_cells
   set verdict_reason = 'Value found, meaning unchecked.', verdict_by = ''
 where verdict_by = 'rules';

-- What `chiron check` asks about.
create index facts_unjudged on facts (subject_id) where verdict_by in ('', 'rules') and quote_state = 'verified';
drop index facts_unchecked;

-- A worker of the version before still writes that rules support a fact.
create function unconfirm() returns trigger language plpgsql as $$
begin
  new.verdict := 'unchecked';
  new.verdict_reason := 'No model was asked.';
  new.verdict_by := '';
  return new;
end $$;
create trigger rules_confirm_nothing before insert or update of verdict, verdict_by on facts
  for each row when (new.verdict = 'supported' and new.verdict_by = 'rules')
  execute function unconfirm();
create trigger rules_confirm_nothing before insert or update of verdict, verdict_by on corroborations
  for each row when (new.verdict = 'supported' and new.verdict_by = 'rules')
  execute function unconfirm();

-- Facts that were written while the rows above changed, and before there was a trigger.
update facts
   set verdict = 'unchecked'
 where verdict = 'supported'
   and verdict_by = 'rules';
update corroborations
   set verdict = 'unchecked'
 where verdict = 'supported'
   and verdict_by = 'rules';
