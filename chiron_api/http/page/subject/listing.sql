-- subjects
-- A page of subjects with what there is of each.
select s.id, s.title, s.purpose_statement, coalesce(fact.accepted, 0) as accepted, coalesce(fact.disputed, 0) as disputed,
       coalesce(fact.candidate, 0) as candidate, coalesce(fact.other, 0) as other, node.nodes, document.documents,
       greatest(fact.at, node.at, document.at) as changed_at
  from (select *
          from subjects
         where %(after)s::text is null or id > %(after)s
         order by id
         limit %(limit)s) s
  left join lateral (
    select count(*) filter (where status = 'accepted')::int as accepted,
           count(*) filter (where status = 'disputed')::int as disputed,
           count(*) filter (where status = 'candidate')::int as candidate,
           count(*) filter (where status in ('superseded', 'withdrawn'))::int as other,
           max(created_at) as at
      from facts
     where subject_id = s.id
  ) fact on true
  left join lateral (
    select count(*)::int as nodes, max(updated_at) as at
      from nodes
     where subject_id = s.id
       and removed_at is null
  ) node on true
  left join lateral (
    select count(*)::int as documents, max(added_at) as at
      from documents
     where subject_id = s.id
  ) document on true
 order by s.id;
