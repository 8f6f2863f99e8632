-- happen
-- An event as a worker commits it: with the counter of its run, in one statement.
with run as (
  update runs
     set seq = seq + 1
   where id = %(run_id)s
  returning id, seq, batch_id)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq, batch_id, 'tool.called', %(data)s
  from run
returning batch_id, run_id, seq, kind, at, data;

-- finish
with run as (
  update runs
     set seq = seq + 1,
         state = 'completed'
   where batch_id = %(batch_id)s
  returning id, seq, batch_id),
batch as (
  update batches
     set open_runs = 0
   where id = %(batch_id)s)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq, batch_id, 'run.completed', '{}'
  from run
returning seq;
