-- How many facts a run met that were there before it, beside `facts`, those that it stored first. Workers of the version before
-- count none.
alter table runs add column confirmed int not null default 0;
