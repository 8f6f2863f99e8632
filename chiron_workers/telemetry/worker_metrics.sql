-- update
update worker_metrics
   set counters = %(counters)s::jsonb,
       gauges = %(gauges)s::jsonb,
       saved_at = now()
 where id = %(id)s;

-- insert
insert into worker_metrics (id, worker, counters, gauges)
values (%(id)s, %(worker)s, %(counters)s::jsonb, %(gauges)s::jsonb);

-- retire
-- The counters of workers that are long gone go into one row, in the statement that deletes theirs.
with retired as (
  delete from worker_metrics
   where id <> %(retired_id)s
     and saved_at < now() - %(retire_after)s
  returning counters),
sums as (
  select jsonb_object_agg(key, total) as counters
    from (select key, sum(value::float8) as total
            from retired
           cross join jsonb_each_text(counters)
           group by key) as totals)
insert into worker_metrics as total (id, worker, counters)
select %(retired_id)s, '', coalesce(counters, '{}')
  from sums
 where exists (select from retired)
    on conflict (id) do update
   set saved_at = now(),
       counters = (select coalesce(jsonb_object_agg(key, value), '{}')
                     from (select key, sum(value::float8) as value
                             from (select * from jsonb_each_text(total.counters)
                                   union all
                                   select * from jsonb_each_text(excluded.counters)) as pairs
                            group by key) as totals);

-- sums
-- Counters of all workers there ever were, and gauges of those that live.
select key, sum(value::float8) as value
  from (select key, value
          from worker_metrics
         cross join jsonb_each_text(counters)
        union all
        select key, value
          from worker_metrics
         cross join jsonb_each_text(gauges)
         where saved_at > now() - %(alive_for)s) as pairs
 group by key;

-- alive
select count(*) as workers
  from worker_metrics
 where gauges is not null
   and saved_at > now() - %(alive_for)s;
