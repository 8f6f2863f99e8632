-- What workers count, for Prometheus. `gauges` is null once a worker has ended. The row of the nil id has what the rows of
-- workers that are long gone came to, so that sums never fall.
create table worker_metrics (
  id uuid primary key,
  worker text not null,
  counters jsonb not null,
  gauges jsonb,
  saved_at timestamptz not null default now()
);

-- So that a million runs are counted, and the one that waits longest is found, without reading their rows.
create index runs_state on runs (state);
create index runs_ready on runs (ready_at) where state = 'queued';
