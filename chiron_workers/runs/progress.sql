-- progress
select steps > steps_at_claim as has_progressed
  from runs
 where id = %(run_id)s
   and lease = %(lease)s
   and token = %(token)s
   and state = 'running';

-- is_requeued
-- A run is queued when it is submitted, resumed, retried or gets a message, and not when it is handed back or rescued.
select kind = 'run.queued' as is_requeued
  from events
 where run_id = %(run_id)s
   and kind in ('run.queued', 'model.replied')
 order by seq desc
 limit 1;

-- read_handing_in
-- A run that is started over has no question in its opening, as it had none when it began.
with beginning as (
  select max(n) as n
    from entries
   where run_id = %(run_id)s
     and kind = 'opening'
     and body ->> 'question' is null
)
select exists (select
                 from tool_results r, beginning
                where r.run_id = %(run_id)s
                  and r.n > beginning.n
                  and r.name = %(tool)s
                  and not r.is_error) as is_done,
       (select count(*)
          from entries e, beginning
         where e.run_id = %(run_id)s
           and e.n > beginning.n
           and e.kind = 'question'
           and e.body ->> 'text' = %(reminder)s) as reminders;

-- waited
-- For how long the model of a run has kept it waiting: since it first sent the run back after the run last got
-- further, or after somebody last asked for it.
select coalesce(extract(epoch from now() - min(at)), 0)::float8 as seconds
  from events
 where run_id = %(run_id)s
   and kind = 'run.handed_back'
   and data ->> 'waits_for' = 'model'
   and seq > (select coalesce(max(seq), 0)
                from events
               where run_id = %(run_id)s
                 and kind not in ('run.handed_back', 'run.started', 'run.resumed'));
