-- create
-- No unique key: a row that is written twice is to be seen.
create table looked_up (run_id text not null, call_id text not null, query text not null);
create index on looked_up (run_id, call_id);
-- What a loop of its own keeps of a fact: no neighbours, no sources, no confidence.
create table kept_facts (
  run_id text not null, call_id text not null, content text not null, quote text, source_url text, embedding halfvec(384)
);

-- keep
insert into looked_up (run_id, call_id, query) values (%(run_id)s, %(call_id)s, %(query)s);

-- kept
select count(*), count(distinct (run_id, call_id)) from looked_up;

-- forget
truncate looked_up;
