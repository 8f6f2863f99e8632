-- lock_subject
-- Everything else that writes facts of a subject waits, and is waited for.
select pg_advisory_xact_lock(7201849, hashtext(%(subject_id)s));

-- share_subject
-- Writers of single facts have the subject together, each until its commit; among themselves they go by their intents.
select pg_advisory_xact_lock_shared(7201849, hashtext(%(subject_id)s));

-- reach
-- Some facts and all whose confidence may change with theirs: what they support, and what contradicts either.
with named as (
  select unnest(%(fact_ids)s::uuid[]) as id
), supported as (
  select id
    from named
  union
  select l.other_id
    from fact_links l
    join named n on n.id = l.fact_id
   where l.relation = 'supports'
), reach as (
  select id
    from supported
  union
  select l.other_id
    from fact_links l
    join supported s on s.id = l.fact_id
   where l.relation = 'contradicts'
  union
  select l.fact_id
    from fact_links l
    join supported s on s.id = l.other_id
   where l.relation = 'contradicts'
)
select f.id::text as id, f.status
  from facts f
 where f.id in (select id from reach)

-- lock_facts
-- In the order of their ids, so that no two writers wait for each other; they are locked before anything is computed from what
-- was committed by then.
{{reach}}
 order by f.id
   for update of f;

-- reach_of_facts
{{reach}};

-- mark
savepoint before_facts;

-- unlock_facts
rollback to savepoint before_facts;
