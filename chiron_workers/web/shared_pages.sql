-- claim
-- The caller that gets a row fetches the page. A claim ends when it expires, when the run that made it loses its lease,
-- or when the same call begins again after a crash. Of a page that is there nothing is written.
insert into shared_pages (batch_id, url, claimed_by, call_id, claimed_until)
select %(batch_id)s, %(url)s, %(run_id)s, %(call_id)s, now() + %(claim_for)s
 where not exists (select
                     from shared_pages
                    where batch_id = %(batch_id)s and url = %(url)s and good_until > now())
on conflict (batch_id, url) do update
   set claimed_by = excluded.claimed_by, call_id = excluded.call_id, claimed_until = excluded.claimed_until,
       hash = null, found_url = null, error = null, good_until = null
 where (shared_pages.good_until is null or shared_pages.good_until < now())
   and (shared_pages.claimed_until is null or shared_pages.claimed_until < now()
        or (shared_pages.claimed_by = excluded.claimed_by and shared_pages.call_id = excluded.call_id)
        or not exists (select
                         from runs r
                        where r.id = shared_pages.claimed_by
                          and case r.state when 'running' then r.leased_until > now() end))
returning url;

-- read
select p.error, f.url, f.hash, f.title, f.author, f.authors, f.published_at, f.licence, f.fetched_at, f.left_out, s.body,
       s.content_type
  from shared_pages p
  left join snapshots s on s.hash = p.hash
  left join lateral (select *
                       from fetches
                      where url = p.found_url and hash = p.hash
                      order by fetched_at desc, id desc
                      limit 1) f on true
 where p.batch_id = %(batch_id)s and p.url = %(url)s and p.good_until > now();

-- fill
-- Shares the page under the requested address and under the one where redirects ended.
with requested as (
  update shared_pages
     set hash = %(hash)s, found_url = %(found_url)s, claimed_until = null, good_until = now() + %(good_for)s
   where batch_id = %(batch_id)s and url = %(url)s and claimed_by = %(run_id)s and call_id = %(call_id)s)
insert into shared_pages (batch_id, url, hash, found_url, good_until)
select %(batch_id)s, %(found_url)s, %(hash)s, %(found_url)s, now() + %(good_for)s
 where %(found_url)s <> %(url)s
on conflict do nothing;

-- fail
update shared_pages
   set error = %(error)s, claimed_until = null, good_until = now() + %(good_for)s
 where batch_id = %(batch_id)s and url = %(url)s and claimed_by = %(run_id)s and call_id = %(call_id)s;

-- release
update shared_pages
   set claimed_until = null
 where batch_id = %(batch_id)s and url = %(url)s and claimed_by = %(run_id)s and call_id = %(call_id)s;
