-- research_between
-- Two are enough to know that a beginning means several.
(select id
   from batches
  where id between %(first)s and %(last)s
  limit 2)
union all
(select id
   from runs
  where id between %(first)s and %(last)s
  limit 2);

-- fact_between
select id
  from facts
 where id between %(first)s and %(last)s
 limit 2;

-- subscription_between
select id
  from subscriptions
 where id between %(first)s and %(last)s
 limit 2;

-- webhook_between
select id
  from webhooks
 where id between %(first)s and %(last)s
 limit 2;

-- delivery_between
select id
  from deliveries
 where id between %(first)s and %(last)s
 limit 2;

-- proposal_between
select id
  from node_proposals
 where id between %(first)s and %(last)s
 limit 2;

-- newest
select id
  from batches
 order by id desc
 limit 1;

-- of_name
select id
  from batches
 where name = %(name)s
 order by id desc
 limit 2;

-- neighbours
-- By id the ids of batches and runs next to it on either side: none further away has more in common with it.
select asked.id,
       array_remove(array[
         (select id
            from batches
           where id < asked.id
           order by id desc
           limit 1),
         (select id
            from batches
           where id > asked.id
           order by id
           limit 1),
         (select id
            from runs
           where id < asked.id
           order by id desc
           limit 1),
         (select id
            from runs
           where id > asked.id
           order by id
           limit 1)
       ], null) as near
  from unnest(%(ids)s::uuid[]) as asked(id);
