-- columns
select b.columns, r.topic
  from runs r
  join batches b on b.id = r.batch_id
 where r.id = %(run_id)s;

-- lock
-- Calls of one reply may hand in rows at once.
select pg_advisory_xact_lock(hashtextextended('rows ' || %(run_id)s::text, 0));

-- values
select n, array_agg(value order by place) as values
  from answer_cells
 where run_id = %(run_id)s
 group by n
 order by n;

-- page
select n, array_agg(value order by place) as values
  from answer_cells
 where run_id = %(run_id)s
   and n > %(after)s
 group by n
 order by n
 limit %(limit)s;

-- add
insert into answer_rows (run_id, n, id, call_id)
select %(run_id)s, entry.n, entry.id, %(call_id)s
  from jsonb_to_recordset(%(rows)s) as entry (n int, id uuid)
    on conflict (run_id, n) do update set call_id = excluded.call_id, written_at = now();

-- clear
delete from answer_cells
 where run_id = %(run_id)s
   and n = any(%(numbers)s);

-- add_cells
insert into answer_cells (run_id, n, place, value, fact_ids, reason, verdict_reason, verdict_by)
select %(run_id)s, cell.n, cell.place, cell.value, cell.fact_ids, cell.reason, cell.verdict_reason, cell.verdict_by
  from jsonb_to_recordset(%(cells)s)
       as cell (n int, place int, value text, fact_ids uuid[], reason text, verdict_reason text, verdict_by text);

-- size
select (select count(*)
          from answer_rows
         where run_id = %(run_id)s) as rows,
       count(*) filter (where value is null) as empty_cells,
       coalesce(sum(octet_length(value) + octet_length(reason) + 16 * cardinality(fact_ids)), 0) as bytes
  from answer_cells
 where run_id = %(run_id)s;
