-- The indexes of runs_waiting and runs_rung over the column's new name. Those stay for workers of the version before.

alter table runs validate constraint runs_stop_requested_is_known;
alter table runs validate constraint runs_stop_requested_is_for_a_holder;

create index runs_undispatched on runs (batch_id, model, priority desc, id, ready_at)
  where state = 'queued' and dispatched_at is null;
create index runs_dispatched on runs (dispatched_at) where state = 'queued' and dispatched_at is not null;

-- Without statistics the planner takes nearly all runs for dispatched. An empty table keeps its guess of ten pages.
do $$
begin
  if exists (select from runs) then
    analyze runs (stop_requested, dispatched_at);
  end if;
end $$;
