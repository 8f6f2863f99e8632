-- Who runs next: how many runs of a batch play at once, when a batch starts, and the indexes that make asking cheap.

alter table batches add column concurrency int constraint batches_concurrency_is_positive check (concurrency > 0);
-- The earliest of its runs, so that what starts tomorrow costs nothing today.
alter table batches add column ready_at timestamptz not null default now();

-- By batch and model, since whole groups wait where a limit is reached; ready_at is a key column only so that runs
-- which wait for their time are passed over within the index.
create index runs_waiting on runs (batch_id, model, priority desc, id, ready_at) where state = 'queued' and rung_at is null;
create index runs_rung on runs (rung_at) where state = 'queued' and rung_at is not null;
drop index runs_running;
create index runs_running on runs (batch_id, model) where state = 'running';
drop index runs_next;
