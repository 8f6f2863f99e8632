-- find
select evidence, verdict, reason, model
  from verdicts
 where evidence = any(%(evidence)s::text[]);

-- store
-- Two runs may have asked at once: the first answer stays.
insert into verdicts (evidence, verdict, reason, model, run_id)
select *, %(model)s, %(run_id)s::uuid
  from unnest(%(evidence)s::text[], %(verdicts)s::text[], %(reasons)s::text[]) as answer (evidence, verdict, reason)
 order by evidence
on conflict (evidence) do nothing;
