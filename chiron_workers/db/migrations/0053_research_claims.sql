-- Until when the claim of a node whose batch is not submitted yet is that of its process; renewed right before the batch is submitted.
-- Claims of the version before have none, and last for an hour.
alter table node_research add column claimed_until timestamptz;
