-- create
create table looked_up (run_id uuid not null, call_id text not null, query text not null, primary key (run_id, call_id));

-- keep
insert into looked_up (run_id, call_id, query) values (%(run_id)s, %(call_id)s, %(query)s);
