-- is_suspect
-- Its condition without the step is that of the index runs_suspects. A step since then shows that the run is not the cause.
((sole_ends > 0 or shared_ends >= 2) and steps = steps_at_claim)

-- forget
delete from worker_ends
 where at < now() - interval '1 day';

-- count_ends
-- How many runs the workers of these runs had. A worker that renews other leases lives, and has left only these runs. The leases of a worker that
-- ended run out within one renewal of each other, and its runs may be rescued one after the other: the first count has all of them.
insert into worker_ends as ends (worker, runs, suspects)
select worker, count(*), count(*) filter (where {{is_suspect}})
  from runs
 where state = 'running'
   and worker in (select worker from runs where id = any(%(run_ids)s))
 group by worker
having not bool_or(leased_until > now() + %(notice)s)
 order by worker
    on conflict (worker) do update
   set runs = case when ends.at > now() - interval '2 minutes' then greatest(ends.runs, excluded.runs) else excluded.runs end,
       suspects = case when ends.at > now() - interval '2 minutes' then greatest(ends.suspects, excluded.suspects) else excluded.suspects end,
       at = case when ends.at > now() - interval '2 minutes' then ends.at else now() end
returning worker;

-- suspect
-- These runs, where they committed no step, may be why their worker ended. A run that was alone on it, or the only suspect, is the likely
-- cause, unless workers without suspects have ended since its last time: then its sole ends are counted anew.
with blamed as (
  select id, e.runs = 1 or e.suspects = 1 and {{is_suspect}} as is_sole,
         exists (select from worker_ends other where other.worker <> e.worker and other.suspects = 0 and other.at > suspected_at) as begins_anew
    from runs
    join worker_ends e using (worker)
   where id = any(%(run_ids)s)
     and worker = any(%(workers)s)
     and steps = steps_at_claim)
update runs
   set sole_ends = case when is_sole and begins_anew then 1 else sole_ends + is_sole::int end,
       shared_ends = shared_ends + (not is_sole or begins_anew and sole_ends > 0)::int,
       suspected_at = case when is_sole or shared_ends > 0 then now() end
  from blamed
 where runs.id = blamed.id
returning runs.id, shared_ends, sole_ends, is_sole, {{is_suspect}} as is_suspect;
