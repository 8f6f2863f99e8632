-- save
-- A text is stored once, whoever finds it; each address that gave it gets a row of its own. Ordered by hash and by
-- address, so that two writers of the same texts wait for each other instead of deadlocking. An address that gave
-- another text before, or none, has changed; of several who see that at once the first one says so. What it gave
-- before is what its last change left: the newest fetch may be an import's, from elsewhere. All is dated when it is
-- written, not when the transaction began, so that the newest fetch is the one that was written last.
with moment as (
  select clock_timestamp() as at
), page as (
  select *
    from unnest(
      %(ids)s::uuid[], %(change_ids)s::uuid[], %(urls)s::text[], %(hashes)s::text[], %(bodies)s::bytea[],
      %(chars)s::int[], %(content_types)s::text[], %(titles)s::text[], %(author_lines)s::text[],
      %(published)s::timestamptz[], %(licences)s::text[], %(raw_hashes)s::text[], %(readers)s::int[], %(etags)s::text[],
      %(last_modified)s::text[], %(dois)s::text[], %(stated_kinds)s::text[],
      %(authors)s::jsonb[], %(left_out)s::text[]
    ) as page (id, change_id, url, hash, body, chars, content_type, title, author, published_at, licence, raw_hash, reader,
               etag, last_modified, doi, stated_kind, authors, left_out)
), snapshot as (
  insert into snapshots (hash, body, chars, content_type)
  select distinct on (hash) hash, body, chars, content_type
    from page
   order by hash
  on conflict do nothing
), change as (
  insert into source_changes (id, url, kind, fetch_id, hash_before, hash, run_id, at, reread)
  select p.change_id, p.url, case last.kind when 'gone' then 'back' else 'changed' end, f.id,
         coalesce(last.hash, last.hash_before, f.hash), p.hash, %(run_id)s, moment.at,
         last.kind is distinct from 'gone' and coalesce(p.raw_hash = f.raw_hash, false)
    from (select distinct on (url) * from page order by url) p
    cross join moment
    cross join lateral (
      select id, hash, raw_hash
        from fetches
       where url = p.url
       order by fetched_at desc, id desc
       limit 1
    ) f
    left join lateral (
      select kind, hash, hash_before
        from source_changes
       where url = p.url
       order by at desc, id desc
       limit 1
    ) last on true
   where p.hash <> coalesce(last.hash, f.hash) or last.kind = 'gone'
   order by p.url
  on conflict do nothing
)
insert into fetches (id, url, hash, run_id, title, author, published_at, licence, fetched_at, raw_hash, reader, etag,
                     last_modified, doi, stated_kind, authors, left_out)
select id, url, hash, %(run_id)s, title, author, published_at, licence, moment.at, raw_hash, reader, etag, last_modified, doi,
       stated_kind, authors, left_out::jsonb
  from page
  cross join moment;

-- latest
select f.url, f.hash, f.title, f.author, f.published_at, f.licence, f.fetched_at, s.body, s.content_type,
       coalesce(f.doi, '') as doi, f.stated_kind, f.authors, f.left_out
  from fetches f
  join snapshots s using (hash)
 where f.url = %(url)s
 order by f.fetched_at desc, f.id desc
 limit 1;

-- validators
-- Of what an address gave last, if our readers would read the same text from it today.
select coalesce(etag, '') as etag, coalesce(last_modified, '') as last_modified, raw_hash
  from (
    select *
      from fetches
     where url = %(url)s
     order by fetched_at desc, id desc
     limit 1
  ) as latest
 where reader = %(reader)s
   and raw_hash is not null
   and doi is not null
   and (etag is not null or last_modified is not null);

-- versions
-- A page that was redirected is kept under both addresses in one statement, the last one first.
select case when f.url ~ '^https?:' then coalesce(final.url, f.url) else f.url end as url, f.hash, f.title, f.author,
       f.published_at, f.licence, f.fetched_at, s.body, s.content_type, coalesce(f.doi, '') as doi, f.stated_kind,
       f.authors, f.left_out
  from (select distinct on (hash) *, run_id is not distinct from %(run_id)s as is_own from fetches
         where url = %(url)s
           and (%(run_id)s::uuid is null or run_id = %(run_id)s
                or url ~ '^https?:'
                   and (select r.batch_id from runs r where r.id = fetches.run_id) = %(batch_id)s)
         order by hash, is_own desc, fetched_at desc, id desc) f
  join snapshots s using (hash)
  left join lateral (
    select g.url
      from fetches g
     where g.hash = f.hash
       and g.fetched_at = f.fetched_at
       and g.run_id is not distinct from f.run_id
     order by g.id
     limit 1
  ) final on true
 order by f.is_own desc, f.fetched_at desc, f.id desc
 limit 5;

-- record_gone
-- Only what was read before can be gone, and it goes once until it is back.
insert into source_changes (id, url, kind, fetch_id, hash_before, reason, run_id, at)
select %(id)s, f.url, 'gone', f.id, coalesce(last.hash, f.hash), %(reason)s, %(run_id)s, clock_timestamp()
  from (select id, url, hash from fetches where url = %(url)s order by fetched_at desc, id desc limit 1) f
  left join lateral (
    select kind, hash
      from source_changes
     where url = f.url
     order by at desc, id desc
     limit 1
  ) last on true
 where last.kind is distinct from 'gone'
on conflict do nothing
returning id;

-- parts
select distinct url
  from fetches
 where starts_with(url, 'file://')
   and starts_with(url, %(url)s)
   and (url = %(url)s or starts_with(url, %(url)s || '?'))
 order by url
 limit 1000;
