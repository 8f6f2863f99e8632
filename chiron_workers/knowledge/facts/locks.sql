-- lock_subject
-- One writer of a subject's facts at a time, from its last look at the neighbours to its commit: two workers that store
-- the same claim at the same moment would else make two facts of it.
select pg_advisory_xact_lock(7201849, hashtext(%(subject_id)s));
