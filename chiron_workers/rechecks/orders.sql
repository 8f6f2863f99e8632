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

-- claim
update rechecks
   set claimed_until = now() + %(claim_for)s, tries = tries + 1
 where id = (
   select id
     from rechecks
    where finished_at is null
      and (claimed_until is null or claimed_until < now())
    order by created_at, id
    limit 1
      for update skip locked
 )
returning id, subject_id, tries;

-- finish
update rechecks
   set finished_at = now(), outcome = %(outcome)s, error = %(error)s
 where id = %(id)s
   and tries = %(tries)s
   and finished_at is null;

-- release
update rechecks
   set claimed_until = null
 where id = %(id)s
   and tries = %(tries)s
   and finished_at is null;
