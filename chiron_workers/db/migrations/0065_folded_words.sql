-- Letters of the Arabic script and digits of any script are indexed in one form (language/terms.py). `words_version` says in which form
-- the words of a row are: null for that of a version before, whose workers still write it. A worker indexes such rows again, where
-- they have what is folded now; migration 0068 has the indexes by which it finds them.
alter table facts add column words_version smallint;
alter table passages add column words_version smallint;
