-- order
-- Whoever orders one while another waits or goes on gets that.
insert into rechecks (id, subject_id)
values (%(id)s, %(subject_id)s)
on conflict (subject_id) where finished_at is null do nothing;

-- open_of
select id
  from rechecks
 where subject_id = %(subject_id)s
   and finished_at is null;

-- get
select id, subject_id, subscription_id, created_at, finished_at, outcome, error,
       case
         when finished_at is null and claimed_until > now() then 'running'
         when finished_at is null then 'queued'
         when outcome is null then 'failed'
         else 'completed'
       end as state
  from rechecks
 where id = %(id)s;

-- next
-- The oldest order that no worker has, and that does not rest after a failure.
select id, exists (select from duty_failures f where f.duty = 'rechecks' and f.item = rechecks.id::text) as has_failed
  from rechecks
 where finished_at is null
   and (claimed_until is null or claimed_until < now())
   and not exists (select
                     from duty_failures f
                    where f.duty = 'rechecks'
                      and f.item = rechecks.id::text
                      and f.retry_at > now())
 order by created_at, id
 limit 1;

-- claim
update rechecks
   set claimed_until = now() + %(claim_for)s, tries = tries + 1
 where id = %(id)s
   and finished_at is null
   and (claimed_until is null or claimed_until < now())
returning id, subject_id, tries, error, tries - releases <= %(tries_max)s as has_tries;

-- renew
update rechecks
   set claimed_until = now() + %(claim_for)s
 where id = %(id)s
   and tries = %(tries)s
   and finished_at is null;

-- finish
update rechecks
   set finished_at = now(), outcome = %(outcome)s, error = %(error)s
 where id = %(id)s
   and tries = %(tries)s
   and finished_at is null;

-- release
update rechecks
   set claimed_until = null,
       releases = releases + %(releases)s,
       error = case when %(error)s = '' then error else %(error)s end
 where id = %(id)s
   and tries = %(tries)s
   and finished_at is null;
