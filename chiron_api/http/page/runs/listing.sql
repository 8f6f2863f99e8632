-- batches
-- The batches that the listed runs belong to.
select id, name, owner
  from batches
 where id = any(%(ids)s);

-- choices
-- Choices for the filters: subjects and models of the newest runs, and owners of their batches for readers who see all.
with newest as materialized (
  select r.subject_id, r.model, b.owner
    from runs r
    join batches b on b.id = r.batch_id
   where %(owner)s::text is null
      or b.owner = %(owner)s
   order by r.id desc
   limit %(looked_at)s
)
select distinct 'subject' as name, subject_id as value from newest
union all
select distinct 'model', model from newest
union all
select distinct 'owner', owner from newest where %(owner)s::text is null
 order by name, value
 limit %(limit)s;
