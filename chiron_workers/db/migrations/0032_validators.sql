-- What a server gave to ask later whether its page is still the same. Workers of the version before store none, and then the page
-- is read in full.
alter table fetches add column etag text, add column last_modified text;
