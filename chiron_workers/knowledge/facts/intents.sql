-- declare
-- The lock makes the order of the numbers that of the commits: whoever sees an intent sees all before it. Nothing waits for the
-- disk: a crash that loses this commit has ended the writer as well.
with turn as materialized (
  select pg_advisory_xact_lock(7201851, hashtext(%(subject_id)s)), set_config('synchronous_commit', 'off', true)
)
insert into fact_intents (key, subject_id, space, content, embedding)
select %(key)s, %(subject_id)s, %(space)s, %(content)s, %(embedding)s::halfvec
  from turn;

-- commit_and_begin
commit and chain;

-- forget
delete from fact_intents
 where key = %(key)s;

-- wait_for_earlier
-- Waits for the writers of these intents. What is left of them then is of nobody who writes: whoever declared it has failed, or
-- has not begun and will find it gone. The newest first: whoever waits has only later ones than that for which it waits, so no
-- two wait for each other.
delete from fact_intents
 where id in (
   select id
     from fact_intents
    where id = any(%(ids)s)
    order by id desc
      for update
 );

-- forget_old
-- Of writers that were killed, whatever subject they wrote to. Who still writes has its own locked.
delete from fact_intents
 where id in (
   select id
     from fact_intents
    where at < clock_timestamp() - interval '10 minutes'
      for update skip locked
 );
