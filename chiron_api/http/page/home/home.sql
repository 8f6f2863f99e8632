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

-- answers
-- The runs that completed last, of topics that a user or a subscription submitted.
select r.id, r.number, r.batch_id, b.name as batch_name, r.subject_id, r.topic, left(r.answer, %(chars)s) as answer,
       r.facts + r.confirmed + r.cited as facts, {{nothing_found}} as nothing_found, r.finished_at
  from runs r
  join batches b on b.id = r.batch_id
 where r.finished_at is not null
   and r.state = 'completed'
   and r.scope is null
   and not r.silent
   and b.kind = 'research'
   and (%(owner)s::text is null or b.owner = %(owner)s)
 order by r.finished_at desc, r.id desc
 limit %(limit)s;

-- shared_subjects
-- Subjects, that with the newest fact first: all who may read share them.
select s.id, s.title, s.purpose_statement, newest.created_at as changed_at,
       (select count(*)
          from facts f
         where f.subject_id = s.id
           and f.status in ('accepted', 'disputed'))::int as facts,
       (select count(*)
          from documents d
         where d.subject_id = s.id)::int as documents
  from subjects s
  left join lateral (
    select f.created_at
      from facts f
     where f.subject_id = s.id
       and f.status in ('accepted', 'disputed')
     order by f.id desc
     limit 1) newest on true
 order by newest.created_at desc nulls last, s.created_at desc, s.id
 limit %(limit)s;

-- has_batches
select exists(select
                from batches
               where %(owner)s::text is null
                  or owner = %(owner)s) as is_so;
