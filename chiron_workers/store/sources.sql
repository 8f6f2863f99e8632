-- keep
-- A text is stored once, whoever finds it; each address that gave it gets a row of its own. Ordered by hash, so
-- that two writers of the same texts wait for each other instead of deadlocking.
with page as (
  select * from unnest(
    %(ids)s::uuid[], %(urls)s::text[], %(hashes)s::text[], %(bodies)s::bytea[], %(chars)s::int[],
    %(content_types)s::text[], %(titles)s::text[], %(authors)s::text[], %(published)s::timestamptz[]
  ) as page (id, url, hash, body, chars, content_type, title, author, published_at)
), snapshot as (
  insert into snapshots (hash, body, chars, content_type)
  select distinct on (hash) hash, body, chars, content_type from page order by hash
  on conflict do nothing
)
insert into fetches (id, url, hash, run_id, title, author, published_at)
select id, url, hash, %(run_id)s, title, author, published_at from page;

-- latest
select f.url, f.hash, f.title, f.author, f.published_at, f.fetched_at, s.body, s.content_type
  from fetches f join snapshots s using (hash)
 where f.url = %(url)s
 order by f.fetched_at desc, f.id desc
 limit 1;

-- versions
select f.url, f.hash, f.title, f.author, f.published_at, f.fetched_at, s.body, s.content_type
  from (select distinct on (hash) * from fetches where url = %(url)s order by hash, fetched_at desc, id desc) f
  join snapshots s using (hash)
 order by f.fetched_at desc, f.id desc
 limit 5;
