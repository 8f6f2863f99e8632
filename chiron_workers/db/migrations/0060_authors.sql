-- The authors of a source as a list of names. Null where a version before has read it: `0061_author_lists.sql` fills in what it can.
alter table fetches add column authors jsonb;
