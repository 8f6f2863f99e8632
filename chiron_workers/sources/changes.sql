-- unchecked
-- What nobody has looked at yet: it is new, or whoever recorded it has died. The latest of each address says how its
-- facts stand now, so the ones before it need no look.
--
-- Changes that wait for another reading are not looked at until then: `body_before` and `title_before` are of the text before the
-- first of them, which facts rest on. `is_borne_out`: an address that was read again so much later still gives another text.
select c.id, c.url, c.kind, c.hash, c.reread, before.body as body_before, now.body,
       (select title from fetches where id = first.fetch_id) as title_before, coalesce(newest.title, '') as title,
       coalesce(newest.fetched_at >= first.at + %(reread_after)s, false) as is_borne_out
  from (select unnest(%(urls)s::text[]) limit cardinality(%(urls)s::text[])) as asked (url)
 cross join lateral (select * from source_changes where url = asked.url order by at desc, id desc limit 1) c
 cross join lateral (
   select o.fetch_id, o.hash_before, o.at
     from source_changes o
    where o.url = c.url
      and not exists (
        select from source_changes k where k.url = c.url and k.checked_at is not null and (k.at, k.id) > (o.at, o.id))
      and o.checked_at is null
    order by o.at, o.id
    limit 1
 ) first
  join snapshots before on before.hash = first.hash_before
  left join snapshots now on now.hash = c.hash
  left join lateral (
    select title, fetched_at
      from fetches
     where url = c.url
     order by fetched_at desc, id desc
     limit 1
  ) newest on true
 where c.checked_at is null
 order by c.url;

-- assertions
-- What rests on an address in another text than the one it gives now; the newest first. `is_same_reader`: our readers read
-- that text as they read the one of now. `was_lost`: the change before had lost it already.
select a.id, a.fact_id, a.quote, a.quote_state = 'verified' as is_verified, a.source_url, a.snapshot_hash, a.quote_start,
       a.quote_end,
       coalesce((
         select title
           from fetches
          where url = %(url)s
            and hash = a.snapshot_hash
          order by fetched_at
          limit 1
       ), '') as title,
       exists (select from fetches r where r.url = %(url)s and r.hash = a.snapshot_hash and r.reader = %(reader)s)
         as is_same_reader,
       exists (
         select
           from lost_grounds l
          where l.assertion_id = a.id
            and l.change_id = (
              select id
                from source_changes
               where url = %(url)s
                 and id <> %(id)s
               order by at desc, id desc
               limit 1)
       ) as was_lost
  from assertions a
  join facts f on f.id = a.fact_id and f.status <> 'withdrawn'
 where a.snapshot_hash = any(array(
   select distinct hash
     from fetches
    where url = %(url)s
      and hash is distinct from %(hash)s
 ))
    or (a.snapshot_hash is null and md5(a.source_url) = md5(%(url)s))
 order by a.created_at desc, a.id
 limit %(limit)s;

-- check
-- A fact that was deleted meanwhile has lost nothing.
with change as (
  update source_changes
     set checked_at = now(), facts = %(facts)s, agreement = %(agreement)s
   where id = %(id)s
     and checked_at is null
  returning id
)
insert into lost_grounds (change_id, assertion_id, fact_id)
select change.id, lost.assertion_id, lost.fact_id
  from change
  cross join unnest(%(assertion_ids)s::uuid[], %(fact_ids)s::uuid[]) as lost (assertion_id, fact_id)
 where exists (select from facts where facts.id = lost.fact_id)
on conflict do nothing;

-- bodies
select hash, body
  from snapshots
 where hash = any(%(hashes)s::text[])
 order by hash;

-- note_contexts
-- The quotes with other words around them now. `at` is when these words were found; harmless changes since do not count.
insert into changed_contexts as c (
  assertion_id, fact_id, url, hash, quote_start, quote_end, window_pieces, difference, words)
select context.assertion_id, context.fact_id, %(url)s, %(hash)s, context.quote_start, context.quote_end, context.window_pieces,
       context.difference, context.words
  from unnest(%(assertion_ids)s::uuid[], %(fact_ids)s::uuid[], %(starts)s::int[], %(ends)s::int[], %(pieces)s::jsonb[],
              %(differences)s::text[], %(words)s::text[])
       as context (assertion_id, fact_id, quote_start, quote_end, window_pieces, difference, words)
 where exists (select from facts where facts.id = context.fact_id)
 order by context.assertion_id
on conflict (assertion_id) do update
   set hash = excluded.hash, quote_start = excluded.quote_start, quote_end = excluded.quote_end,
       window_pieces = excluded.window_pieces, difference = excluded.difference, words = excluded.words, is_current = true,
       at = case when c.is_current and c.difference = excluded.difference then c.at else now() end;

-- note_returns
-- Those whose words are again what they were, also because the address gives again the very text that they rest on.
update changed_contexts c
   set is_current = false
 where c.url = %(url)s
   and c.is_current
   and (c.assertion_id = any(%(assertion_ids)s::uuid[])
     or exists (select from assertions a where a.id = c.assertion_id and a.snapshot_hash = %(hash)s));

-- latest
-- The latest change of each address, and when the text before it was read. The limit leaves all addresses; of a limit that is
-- computed Postgres expects a tenth, so that a plan for any addresses looks as good to it as one for these, and is kept.
select c.url, c.kind, c.at, f.fetched_at as read_at, c.hash, c.reason, c.facts, c.agreement, c.reread,
       c.checked_at is not null as is_checked,
       array(select l.assertion_id::text from lost_grounds l where l.change_id = c.id order by 1) as lost,
       array(select distinct l.fact_id::text from lost_grounds l where l.change_id = c.id order by 1) as lost_facts
  from (select unnest(%(urls)s::text[]) limit cardinality(%(urls)s::text[])) as asked (url)
 cross join lateral (select * from source_changes where url = asked.url order by at desc, id desc limit 1) c
  join fetches f on f.id = c.fetch_id;
