-- audience
-- The webhooks that hear of a batch. Nobody deletes them until this transaction ends, so what is inserted for them stays valid.
select w.id, w.kinds
  from batches b
  join webhooks w on w.owner = b.owner
 where b.id = %(batch_id)s
   and w.state = 'active'
   and w.kinds && %(kinds)s::text[]
 order by w.id
   for key share of w;

-- runs
select id as run_id, batch_id, subject_id, topic as name, state, facts, confirmed, cited,
       {{nothing_found}} as nothing_found, spent_usd
  from runs
 where id = any(%(run_ids)s);

-- batch
select b.id as batch_id, b.subject_id, b.name, c.spent_usd, sums.*
  from batches b
  join batch_costs c on c.batch_id = b.id
 cross join lateral (
   select coalesce(sum(facts), 0)::int as facts, coalesce(sum(confirmed), 0)::int as confirmed,
          coalesce(sum(cited), 0)::int as cited,
          count(*) filter (where {{nothing_found}})::int as nothing_found
     from runs
    where batch_id = b.id) sums
 where b.id = %(batch_id)s;

-- insert
insert into deliveries (id, webhook_id, kind, payload)
values (%(id)s, %(webhook_id)s, %(kind)s, %(payload)s);
