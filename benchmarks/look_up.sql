-- create
-- No unique key: a row that is written twice is to be seen.
create table looked_up (run_id text not null, call_id text not null, query text not null);
create index on looked_up (run_id, call_id);

-- keep
insert into looked_up (run_id, call_id, query) values (%(run_id)s, %(call_id)s, %(query)s);

-- kept
select count(*), count(distinct (run_id, call_id)) from looked_up;

-- forget
truncate looked_up;
