-- take_turn
-- One statement reserves turns for all workers. A caller that cannot wait for the next turn reserves none: no row comes
-- back.
insert into hosts (host, next_at)
values (%(host)s, clock_timestamp() + %(pause)s)
on conflict (host) do update
   set next_at = greatest(hosts.next_at, clock_timestamp()) + %(pause)s
 where hosts.next_at <= clock_timestamp() + %(patience)s
returning greatest(extract(epoch from next_at - %(pause)s - clock_timestamp()), 0)::float8 as seconds;

-- wait
select greatest(extract(epoch from next_at - clock_timestamp()), 0)::float8 as seconds
  from hosts
 where host = %(host)s;

-- back_off
insert into hosts (host, next_at)
values (%(host)s, now() + %(duration)s)
on conflict (host) do update
   set next_at = greatest(hosts.next_at, excluded.next_at);

-- robots
select body, refusal
  from robots
 where origin = %(origin)s and good_until > now();

-- save_robots
insert into robots (origin, body, refusal, good_until)
values (%(origin)s, %(body)s, null, now() + %(good_for)s)
on conflict (origin) do update
   set body = excluded.body, refusal = null, good_until = excluded.good_until;

-- robots_unavailable
-- Rules read before stay valid while the file cannot be read.
insert into robots (origin, body, refusal, good_until)
values (%(origin)s, null, %(refusal)s, now() + %(good_for)s)
on conflict (origin) do update
   set refusal = case when robots.refusal is null then null else excluded.refusal end,
       good_until = excluded.good_until
returning body, refusal;

-- delete_idle
-- Deletes what was not used for a week. Runs with each new robots.txt, so about once a day for each host.
with idle_hosts as (
  delete from hosts
   where next_at < now() - interval '7 days'),
stale_pages as (
  delete from shared_pages
   where coalesce(good_until, claimed_until, '-infinity') < now() - interval '7 days')
delete from robots
 where good_until < now() - interval '7 days';
