-- A hold that a refused key has set: since when, and which run finds out whether it is still refused. The other runs of the
-- model wait for that one until `probed_by`. Workers of the version before see a hold like any other.
alter table holds
  add column refused_at timestamptz,
  add column probe_run uuid,
  add column probed_by timestamptz;
