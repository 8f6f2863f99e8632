-- over
-- Researches whose runs have ended.
select r.id, r.node_id::text as node_id, r.facts_before, runs.state = 'cancelled' as is_cancelled
  from node_research r
  join runs on runs.id = r.run_id
 where r.subject_id = %(subject_id)s
   and r.settled_at is null
   and runs.state in ('completed', 'failed', 'cancelled');

-- drop_orphans
-- Claims whose run was deleted, and those that no batch came of within a lease: their process is gone.
delete from node_research r
 where r.subject_id = %(subject_id)s
   and r.settled_at is null
   and r.run_id is null
   and (r.submitted_at is not null
        or coalesce(r.claimed_until, r.created_at + interval '1 hour') < now()
           and not exists (select from batches b where b.idempotency_key in (r.round_key, r.owner || ': ' || r.round_key)));

-- release
delete from node_research
 where round_key = %(round_key)s
   and run_id is null;

-- settle
update node_research set settled_at = now(), facts_after = %(facts)s where id = %(id)s and settled_at is null;

-- exhaust
-- Nodes whose last two researches gained nothing; one that was cancelled says nothing of that.
update nodes n
   set exhausted_at = now()
 where n.id = any(%(node_ids)s::uuid[])
   and n.exhausted_at is null
   and (select count(*) filter (where latest.facts_after <= latest.facts_before)
          from (select r.facts_before, r.facts_after
                  from node_research r
                 where r.node_id = n.id
                   and r.settled_at is not null
                   and r.facts_after is not null
                 order by r.id desc
                 limit 2) latest) = 2;

-- open
select id, subject_id, node_id::text as node_id, run_id, round_key, owner, request, facts_before
  from node_research
 where subject_id = %(subject_id)s
   and settled_at is null
 order by id;

-- open_batches
select distinct runs.batch_id
  from node_research r
  join runs on runs.id = r.run_id
 where r.subject_id = %(subject_id)s
   and r.settled_at is null
 order by runs.batch_id;

-- claim
insert into node_research (id, subject_id, node_id, owner, round_key, request, facts_before, claimed_until)
values (%(id)s, %(subject_id)s, %(node_id)s, %(owner)s, %(round_key)s, %(request)s::jsonb, %(facts_before)s,
        now() + %(claim_for)s)
on conflict do nothing;

-- renew
-- Right before the batch is submitted: a process that stood still since its claim may have lost it.
update node_research
   set claimed_until = now() + %(claim_for)s
 where round_key = %(round_key)s
   and settled_at is null
returning id;

-- name_runs
update node_research r
   set run_id = named.run_id, submitted_at = coalesce(submitted_at, now())
  from (select node_id, run_id
          from unnest(%(node_ids)s::uuid[], %(run_ids)s::uuid[]) as pair (node_id, run_id)) named
 where r.node_id = named.node_id
   and r.round_key = %(round_key)s
returning r.node_id::text as node_id;

-- revive
update nodes set exhausted_at = null where subject_id = %(subject_id)s and exhausted_at is not null;
