-- What rules alone called supported is unchecked. Confidences stay as they are, and nobody is asked.
-- Since 0067 no such row arrives. Three minutes for a million facts, with locks on their rows alone: workers read them and write
-- others meanwhile; what they would write to one of those waits.

with unconfirmed_facts as (
  update facts
     set verdict = 'unchecked', verdict_reason = 'No model was asked.', verdict_by = ''
   where verdict = 'supported'
     and verdict_by = 'rules'
  returning id
), unconfirmed_corroborations as (
  update corroborations
     set verdict = 'unchecked', verdict_reason = 'No model was asked.', verdict_by = ''
   where verdict = 'supported'
     and verdict_by = 'rules'
  returning fact_id
)
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
 where f.id in (select id from unconfirmed_facts union select fact_id from unconfirmed_corroborations);

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
