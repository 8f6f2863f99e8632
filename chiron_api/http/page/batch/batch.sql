-- squares
select id, number, state, left(topic, 120) as topic, {{nothing_found}} as nothing_found
  from runs
 where batch_id = %(batch_id)s
 order by id;

-- density
-- The runs in the order of topics, cut into so many stretches of nearly the same length.
select stretch, state, count(*) as runs
  from (select state, ((row_number() over (order by id) - 1) * %(stretches)s / %(total)s)::int as stretch
          from runs
         where batch_id = %(batch_id)s) numbered
 group by stretch, state
 order by stretch;

-- facts
-- The newest of those that its runs stored, confirmed or cite.
select f.id, f.content, f.quote, f.source_url, f.confidence, f.status, f.created_at
  from facts f
 where f.id in (select m.fact_id
                  from run_facts m
                  join runs r on r.id = m.run_id
                 where r.batch_id = %(batch_id)s
                   and m.how in ('stored', 'confirmed', 'cited'))
   and f.status in ('accepted', 'disputed')
 order by f.id desc
 limit %(limit)s;

-- costs
-- What the runs had cost by the end of each stretch of time. A run counts when it ends, one that is open now.
select stretch, sum(sum(spent_usd)) over (order by stretch) as usd
  from (select spent_usd,
               least(%(stretches)s - 1,
                     floor(extract(epoch from coalesce(finished_at, %(until)s) - %(since)s)
                           / greatest(extract(epoch from %(until)s - %(since)s), 1) * %(stretches)s)::int) as stretch
          from runs
         where batch_id = %(batch_id)s
           and spent_usd > 0) parts
 group by stretch
 order by stretch;

-- others
-- The finished batches of topics that it can be compared with, newest first.
select id, name, finished_at
  from batches
 where subject_id = %(subject_id)s
   and id <> %(batch_id)s
   and finished_at is not null
   and kind = 'research'
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;

-- run_columns
id, number, topic, state, turns, facts + confirmed + cited as facts, {{nothing_found}} as nothing_found, spent_usd, started_at, finished_at,
       error ->> 'message' as problem

-- runs_by_topic
select {{run_columns}}
  from runs
 where batch_id = %(batch_id)s
   and (%(state)s::text is null or state = %(state)s)
   and (not %(nothing_found)s or {{nothing_found}})
 order by id
 limit %(limit)s offset %(offset)s;

-- runs_by_facts
select {{run_columns}}
  from runs
 where batch_id = %(batch_id)s
   and (%(state)s::text is null or state = %(state)s)
   and (not %(nothing_found)s or {{nothing_found}})
 order by facts + confirmed + cited desc, id
 limit %(limit)s offset %(offset)s;

-- runs_by_cost
select {{run_columns}}
  from runs
 where batch_id = %(batch_id)s
   and (%(state)s::text is null or state = %(state)s)
   and (not %(nothing_found)s or {{nothing_found}})
 order by spent_usd desc, id
 limit %(limit)s offset %(offset)s;

-- runs_by_turns
select {{run_columns}}
  from runs
 where batch_id = %(batch_id)s
   and (%(state)s::text is null or state = %(state)s)
   and (not %(nothing_found)s or {{nothing_found}})
 order by turns desc, id
 limit %(limit)s offset %(offset)s;

-- answers
-- How the answers of the listed runs begin. The list does not read them, since it would read those of all runs to sort them.
select id, left(answer, %(chars)s) as answer
  from runs
 where id = any(%(ids)s)
   and answer is not null;
