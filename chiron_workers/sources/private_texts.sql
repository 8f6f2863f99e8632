-- private_facts
-- Of these facts those that rest on a file, or that a run stated which has read private material.
select f.id as fact_id, string_agg(concat_ws(E'\n', a.content, a.quote), E'\n') as text
  from facts f
  join assertions a on a.fact_id = f.id
 where f.id = any(%(fact_ids)s::uuid[])
   and exists (
     select
       from assertions p
      where p.fact_id = f.id
        and (starts_with(p.source_url, 'file:')
             or (select true from private_runs r where r.run_id = p.run_id))
     offset 0  -- asked of each fact, and not of all that is asserted
   )
 group by f.id;

-- save
insert into private_texts (id, run_id, n, call_id, fact_id, text)
select id, %(run_id)s, %(n)s, %(call_id)s, fact_id, text
  from unnest(%(ids)s::uuid[], %(fact_ids)s::uuid[], %(texts)s::text[]) as private (id, fact_id, text);

-- save_shown
-- The private ones among the facts that a result shows, and that the run has read them.
with private as (
{{private_facts}}
), saved as (
  insert into private_texts (id, run_id, n, call_id, fact_id, text)
  select shown.id, %(run_id)s, %(n)s, %(call_id)s, fact_id, private.text
    from private
    join unnest(%(ids)s::uuid[], %(fact_ids)s::uuid[]) as shown (id, fact_id) using (fact_id)
)
insert into private_runs (run_id)
select %(run_id)s
 where exists (select from private)
on conflict do nothing;

-- keys
-- Of a run that a worker of the version before has marked nothing is recorded: then all results but those of the web count.
select id, n, call_id
  from private_texts
 where run_id = %(run_id)s
union all
select null, n, call_id
  from tool_results
 where run_id = %(run_id)s
   and name not in ('web_search', 'web_fetch')
   and not exists (select from private_texts where run_id = %(run_id)s)
 order by n, call_id;

-- text
select coalesce(p.text, r.whole, r.body) as text
  from tool_results r
  left join private_texts p on p.id = %(id)s
 where r.run_id = %(run_id)s
   and r.n = %(n)s
   and r.call_id = %(call_id)s;

-- topic
select topic, s.title as subject, subject_id, array(select text from inbox where run_id = %(run_id)s) as messages
  from runs r
  join subjects s on s.id = r.subject_id
 where r.id = %(run_id)s;

-- public_pages
-- Texts of the web that the run or its batch has read, and those that the private facts it has seen rest on besides.
select hash
  from shared_pages
 where batch_id = %(batch_id)s
   and hash is not null
union
select hash
  from fetches
 where run_id = %(run_id)s
   and url ~ '^https?:'
union
select a.snapshot_hash
  from private_texts p
  join assertions a on a.fact_id = p.fact_id
 where p.run_id = %(run_id)s
   and a.source_url ~ '^https?:'
   and a.snapshot_hash is not null
 limit 1000;

-- page
select body
  from snapshots
 where hash = %(hash)s;

-- earlier_messages
select text
  from outside_messages
 where run_id = %(run_id)s
 order by id desc
 limit 1000;

-- record_message
insert into outside_messages (id, run_id, call_id, text)
values (%(id)s, %(run_id)s, %(call_id)s, %(text)s);
