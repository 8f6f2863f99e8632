-- now
select now() as now;

-- unfinished
select state, count(*) as runs
  from runs
 where id >= %(low)s
   and id < %(high)s
   and state <> all(%(final)s)
 group by state
 order by state;

-- count
select count(*) as runs
  from runs
 where id >= %(low)s
   and id < %(high)s
   and pruned_at is null;

-- lock_timeout
select set_config('lock_timeout', %(timeout)s, true);

-- mark
-- Who would revive one of these runs waits for its row, and then finds it pruned; whoever was quicker is found by the
-- look for unfinished runs that follows. The order of the ids is the order of the locks.
with finished as (
  select id
    from runs
   where id >= %(low)s
     and id < %(high)s
     and pruned_at is null
     and state = any(%(final)s)
   order by id
     for update)
update runs
   set pruned_at = now()
  from finished
 where runs.id = finished.id;

-- forget_messages
delete from inbox
 where run_id >= %(low)s
   and run_id < %(high)s;

-- forget_side_replies
delete from side_replies
 where run_id >= %(low)s
   and run_id < %(high)s;

-- forget_write_offs
delete from write_offs
 where run_id >= %(low)s
   and run_id < %(high)s;

-- forget_addresses
delete from given_addresses
 where run_id >= %(low)s
   and run_id < %(high)s;

-- drop
-- Another prune may have been quicker.
drop table if exists {tables};

-- unmarked
select 1
  from runs
 where id >= %(low)s
   and id < %(high)s
   and pruned_at is null
 limit 1;
