-- Which runs ended in a time, and which ended last: what they cost by day, and the newest answers. A run enters it once, as it
-- ends, so the updates of a run under way stay HOT.
create index runs_finished on runs (finished_at) where finished_at is not null;
