-- insert
insert into node_proposals (id, subject_id, kind, node_id, other_node_id, draft, reason, state, decision_reason, decided_by,
                            decided_at, run_id)
values (%(id)s, %(subject_id)s, %(kind)s, %(node_id)s, %(other_node_id)s, %(draft)s::jsonb, %(reason)s, %(state)s,
        %(decision_reason)s, %(decided_by)s, case when %(state)s <> 'open' then now() end, %(run_id)s)
on conflict do nothing
returning id;

-- same
select id
  from node_proposals
 where subject_id = %(subject_id)s
   and kind = %(kind)s
   and node_id is not distinct from %(node_id)s
   and other_node_id is not distinct from %(other_node_id)s
   and coalesce(lower(draft ->> 'title'), '') = coalesce(lower(%(draft)s::jsonb ->> 'title'), '')
   and state = 'open';

-- columns
select p.id::text as proposal_id, p.subject_id, p.kind, p.node_id::text, coalesce(n.title, p.draft ->> 'title') as title,
       p.other_node_id::text, o.title as other_title, p.draft, p.reason, p.state, p.decision_reason, p.decided_by,
       p.decided_at, p.run_id::text, p.created_at
  from node_proposals p
  left join nodes n on n.id = p.node_id
  left join nodes o on o.id = p.other_node_id

-- get
{{columns}}
 where p.id = %(id)s;

-- lock
select state
  from node_proposals
 where id = %(id)s
   for update;

-- list
{{columns}}
 where p.subject_id = %(subject_id)s
   and (%(state)s::text is null or p.state = %(state)s)
 order by p.id desc
 limit %(limit)s;

-- decide
update node_proposals
   set state = %(state)s, decision_reason = %(decision_reason)s, decided_by = %(decided_by)s, decided_at = now(),
       node_id = coalesce(node_id, %(node_id)s)
 where id = %(id)s;
