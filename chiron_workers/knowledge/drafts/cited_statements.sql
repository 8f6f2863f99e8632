-- find
select evidence, verdict, reason, model, named_facts
  from verdicts
 where evidence = any(%(evidence)s);

-- store
-- Two runs may have asked at once: the first answer stays.
insert into verdicts (evidence, verdict, reason, named_facts, model, run_id)
select answer.evidence, answer.verdict, answer.reason, answer.named_facts, %(model)s, %(run_id)s::uuid
  from jsonb_to_recordset(%(answers)s) as answer (evidence text, verdict text, reason text, named_facts int[])
 order by answer.evidence
on conflict (evidence) do nothing;
