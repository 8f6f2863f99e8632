-- add
insert into fact_links (fact_id, other_id, relation, decided_by, reason, run_id)
select %(fact_id)s, id, %(relation)s, %(decided_by)s, %(reason)s, %(run_id)s
  from facts
 where id = %(other_id)s  -- somebody may have deleted it since it was read
   and not exists (select from fact_links where fact_id = %(other_id)s and other_id = %(fact_id)s)
on conflict (fact_id, other_id) do nothing
returning fact_id;

-- partners
select other_id::text as fact_id
  from fact_links
 where fact_id = %(fact_id)s
   and relation in ('supports', 'contradicts')
union
select fact_id::text
  from fact_links
 where other_id = %(fact_id)s
   and relation = 'contradicts';
