-- record
-- The pause doubles with each failure in a row. Failures older than a month are deleted.
with forgotten as (
  delete from duty_failures
   where failed_at < now() - interval '30 days'
     and (duty, item) <> (%(duty)s, %(item)s))
insert into duty_failures as f (duty, item, reason, retry_at)
values (%(duty)s, %(item)s, %(reason)s, now() + %(pause_min)s)
    on conflict (duty, item) do update
   set failures = f.failures + 1,
       reason = excluded.reason,
       failed_at = now(),
       retry_at = now() + least(%(pause_min)s * power(2, least(f.failures, 20)), %(pause_max)s)
returning failures, extract(epoch from retry_at - now())::float as pause_s;

-- clear
delete from duty_failures
 where duty = %(duty)s
   and item = any(%(items)s);

-- of_duty
select item, retry_at > now() as is_resting
  from duty_failures
 where duty = %(duty)s;

-- newest
select duty, item, reason, failures, failed_at, retry_at
  from duty_failures
 order by failed_at desc, duty, item
 limit %(limit)s;
