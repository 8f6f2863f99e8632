-- A run keeps how its model is to think and how much effort it makes. Workers of the version before write neither: their runs
-- leave it to what the model can.
alter table runs
  add column thinking text not null default 'auto' constraint runs_thinking_is_known check (
    thinking in ('auto', 'adaptive', 'between_tools', 'enabled', 'disabled')),
  add column effort text constraint runs_effort_is_known check (effort in ('low', 'medium', 'high', 'xhigh', 'max'));

-- A thought is an event. No stored row is looked at: each has passed the narrower check.
alter table events drop constraint events_kind_is_known;
alter table events add constraint events_kind_is_known check (kind in (
  'run.queued', 'run.started', 'run.resumed', 'model.thought', 'model.replied', 'tool.called', 'tool.returned', 'fact.stored',
  'node.saved', 'run.paused', 'run.handed_back', 'run.completed', 'run.failed', 'run.cancelled', 'batch.completed',
  'budget.reached')) not valid;
