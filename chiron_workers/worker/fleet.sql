-- fleet
-- Workers, the queue and the day's money: one row, from indexes and the few rows of open work. A worker shows
-- that it is alive by saving its metrics; one that shut down has no gauges. Runs that may not start yet wait for no worker.
select (select count(*)
          from worker_metrics
         where gauges is not null
           and saved_at > now() - %(alive_for)s)::int as workers,
       silent.workers as silent_workers,
       silent.since_s as silent_s,
       (select count(*)
          from runs
         where state = 'running')::int as running,
       (select count(*)
          from (select
                  from runs
                 where state = 'queued'
                   and ready_at <= now()
                 limit %(waiting_max)s) due)::int as waiting,
       coalesce((select extract(epoch from now() - min(ready_at))
                   from runs
                  where state = 'queued'
                    and ready_at <= now()), 0)::float8 as oldest_wait_s,
       today.spent_usd as spent_today_usd,
       today.reserved_usd
  from (select count(*)::int as workers, coalesce(max(extract(epoch from now() - saved_at)), 0)::float8 as since_s
          from worker_metrics
         where gauges is not null
           and saved_at <= now() - %(alive_for)s
           and saved_at > now() - %(silent_for)s) silent
 cross join ({{day}}) today;
