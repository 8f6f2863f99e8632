-- open_ids
select id
  from batches
 where finished_at is null
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;

-- stopped_ids
-- Of the newest batches those that have runs which wait for somebody.
select b.id
  from (select id
          from batches
         where %(owner)s::text is null
            or owner = %(owner)s
         order by id desc
         limit %(looked_at)s) b
 where exists (select
                 from runs r
                where r.batch_id = b.id
                  and r.state in ('paused', 'failed'))
 order by b.id desc
 limit %(limit)s;

-- finished_ids
select id
  from batches
 where finished_at > %(since)s
   and (%(owner)s::text is null or owner = %(owner)s)
 order by id desc
 limit %(limit)s;

-- new_facts
select id, subject_id, content, quote, source_url, confidence, status, created_at
  from facts
 where id >= %(first_id)s
   and status in ('accepted', 'disputed')
 order by id desc
 limit %(limit)s;

-- has_batches
select exists(select
                from batches
               where %(owner)s::text is null
                  or owner = %(owner)s) as is_so;
