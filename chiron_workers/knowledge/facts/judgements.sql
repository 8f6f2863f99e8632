-- find
-- Who contradicts whom, what is the same and what has nothing to do with what is as true the other way round; support
-- and qualification have a direction.
select relation, reason
  from judgements
 where pair = %(pair)s
    or (pair = %(reversed)s and relation in ('same', 'contradicts', 'new'))
 order by pair = %(pair)s desc
 limit 1;

-- store
-- Two runs may have asked at once: the first answer stays.
insert into judgements (pair, relation, reason, model, run_id)
values (%(pair)s, %(relation)s, %(reason)s, %(model)s, %(run_id)s)
on conflict (pair) do nothing;
