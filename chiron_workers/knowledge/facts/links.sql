-- add
insert into fact_links (fact_id, other_id, relation, decided_by, reason, run_id)
select %(fact_id)s, id, %(relation)s, %(decided_by)s, %(reason)s, %(run_id)s
  from facts
 where id = %(other_id)s  -- somebody may have deleted it since it was read
   and not exists (select from fact_links where fact_id = %(other_id)s and other_id = %(fact_id)s)
on conflict (fact_id, other_id) do nothing
returning fact_id;

-- partners
with supported as (
  select %(fact_id)s::uuid as id
  union all
  select other_id
    from fact_links
   where fact_id = %(fact_id)s
     and relation = 'supports'
)
select id::text as fact_id
  from supported
 where id <> %(fact_id)s
union
select l.other_id::text
  from fact_links l
  join supported s on s.id = l.fact_id
 where l.relation = 'contradicts'
   and l.other_id <> %(fact_id)s
union
select l.fact_id::text
  from fact_links l
  join supported s on s.id = l.other_id
 where l.relation = 'contradicts'
   and l.fact_id <> %(fact_id)s;
