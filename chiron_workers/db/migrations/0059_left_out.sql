-- What the reader of a text left out of it: rows of kind, count and place. Null where that is not known: it was read, or imported, by
-- a version before.
alter table fetches add column left_out jsonb;
