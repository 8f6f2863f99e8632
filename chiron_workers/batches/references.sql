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
-- Of those whose topics somebody submitted. A subscription has its own batches, and so have reports, checks and learning.
select id
  from batches
 where kind = 'research'
   and subscription_id is null
 order by id desc
 limit 1;

-- of_name
select id
  from batches
 where name = %(name)s
 order by id desc
 limit 2;

-- names
-- The newest batches: a misspelt name most likely means one of them.
select distinct name
  from (select name
          from batches
         where name <> ''
         order by id desc
         limit 1000) as newest;

-- of_number
-- Always a row: without an id it says why there is none.
select (select id
          from runs
         where batch_id = %(batch_id)s
           and number = %(number)s) as id,
       (select max(number)
          from runs
         where batch_id = %(batch_id)s) as last_number,
       exists (select from runs where id = %(batch_id)s) as is_run;

-- numbers
select id, number
  from runs
 where batch_id = %(batch_id)s
 order by id;

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
