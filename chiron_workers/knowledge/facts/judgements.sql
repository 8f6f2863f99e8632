-- find
-- Who contradicts whom, what is the same and what has nothing to do with what is as true the other way round; support
-- and qualification have a direction.
select distinct on (w.n) w.n::int as n, j.relation, j.reason
  from unnest(%(pairs)s::text[], %(reversed)s::text[]) with ordinality as w (pair, reversed, n)
  join judgements j on j.pair = w.pair
    or (j.pair = w.reversed and j.relation in ('same', 'contradicts', 'new'))
 order by w.n, j.pair = w.pair desc;

-- store
-- Two runs may have asked at once: the first answer stays.
insert into judgements (pair, relation, reason, model, run_id)
select *, %(model)s, %(run_id)s::uuid
  from unnest(%(pairs)s::text[], %(relations)s::text[], %(reasons)s::text[]) as answer (pair, relation, reason)
 order by pair
on conflict (pair) do nothing;
