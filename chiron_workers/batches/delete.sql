-- open
select state, count(*) as runs
  from runs
 where (id = %(id)s or batch_id = %(id)s)
   and state <> all(%(final)s)
 group by state
 order by state;

-- piece
-- Locked in the order of all locks, so that nobody revives one of them meanwhile.
select id, state = any(%(final)s) as is_final
  from runs
 where id = %(id)s
    or batch_id = %(id)s
 order by id
 limit %(limit)s
   for update;

-- entries
delete from entries where run_id = any(%(run_ids)s);

-- tool_results
delete from tool_results where run_id = any(%(run_ids)s);

-- events
delete from events where run_id = any(%(run_ids)s);

-- subjects
select distinct f.subject_id
  from facts f
  join runs r on r.id = f.run_id
 where r.id = %(id)s
    or r.batch_id = %(id)s
 order by 1;

-- inherit
-- A fact that other runs or people confirmed stays, and rests on what they brought.
with heir as (
  select distinct on (c.fact_id) c.*
    from corroborations c
    join facts f on f.id = c.fact_id
   where f.run_id = any(%(run_ids)s)
     and (c.run_id is null or c.run_id <> all(%(run_ids)s))
   order by c.fact_id, c.quote_state desc, c.id),
moved as (
  delete from corroborations c
   using heir h
   where c.id = h.id
      or c.fact_id = h.fact_id and c.run_id = any(%(run_ids)s)),
forgotten_contexts as (
  delete from changed_contexts x
   using heir h
   where x.assertion_id = h.fact_id),
moved_contexts as (
  update changed_contexts x
     set assertion_id = h.fact_id
    from heir h
   where x.assertion_id = h.id
     and not exists (select from changed_contexts own where own.assertion_id = h.fact_id))
update facts f
   set quote = h.quote, quote_state = h.quote_state, quote_start = h.quote_start, quote_end = h.quote_end,
       source_url = h.source_url, source_score = h.source_score, claimed_score = h.claimed_score,
       source_kind = h.source_kind, claimed_confidence = h.claimed_confidence,
       context = h.context, window_pieces = h.window_pieces, window_hash = h.window_hash, snapshot_hash = h.snapshot_hash,
       has_new_context = h.has_new_context, run_id = h.run_id, call_id = h.call_id
  from heir h
 where f.id = h.fact_id
returning f.id::text as fact_id;

-- pass_on
-- A fact that other runs found again in its one source, or cite, stays as well, as theirs.
with heir as (
  select distinct on (m.fact_id) m.fact_id, m.run_id
    from run_facts m
    join facts f on f.id = m.fact_id
   where f.run_id = any(%(run_ids)s)
     and m.how in ('confirmed', 'cited')
     and m.run_id <> all(%(run_ids)s)
   order by m.fact_id, m.how desc, m.run_id)
update facts f
   set run_id = heir.run_id, call_id = null
  from heir
 where f.id = heir.fact_id;

-- partners
-- The facts whose confidence rests on one that goes, also as what supports something that they contradict.
with gone as (
  select id
    from facts
   where run_id = any(%(run_ids)s)
), linked as (
  select l.other_id as id, l.relation
    from fact_links l
    join gone g on g.id = l.fact_id
  union
  select l.fact_id, l.relation
    from fact_links l
    join gone g on g.id = l.other_id
)
select o.id::text as fact_id
  from facts o
 where o.id in (select id
                  from linked
                union
                select case when l.fact_id = s.id then l.other_id else l.fact_id end
                  from linked s
                  join fact_links l on s.id in (l.fact_id, l.other_id)
                 where s.relation = 'supports'
                   and l.relation = 'contradicts')
   and o.id not in (select id from gone);

-- facts
delete from facts where run_id = any(%(run_ids)s);

-- runs
-- What else belongs to a run goes with it, and what it found no longer names it.
delete from runs where id = any(%(run_ids)s);

-- count_down
-- What the runs have cost stays counted against the budget, since it was spent.
update batches
   set run_count = run_count - %(runs)s
 where id = %(batch_id)s;

-- drop_empty
-- What a batch has cost counts against the budgets of its keys, by the rows of the ledger, and of a journey as well, since it
-- was spent.
with gone as (
  delete from batches
   using batch_costs c
   where id = %(batch_id)s
     and c.batch_id = id
     and not exists (select from runs where batch_id = %(batch_id)s)
  returning id, c.spent_usd + c.unconfirmed_usd as usd
), settled as (
  update journey_batches
     set cost_usd = gone.usd
    from gone
   where batch_id = gone.id
)
select id
  from gone;
