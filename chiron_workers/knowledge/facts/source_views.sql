-- places
-- Where the quotes of assertions stand, and what was known of their sources when they gave those texts.
select a.id::text as id, a.source_url, a.snapshot_hash, a.quote_start, a.quote_end, a.window_pieces, a.window_hash,
       coalesce(f.title, '') as title, coalesce(f.author, '') as author, f.published_at
  from assertions a
  left join lateral (
    select title, author, published_at
      from fetches
     where hash = a.snapshot_hash
       and url = a.source_url
     order by fetched_at
     limit 1
  ) f on true
 where a.id = any(%(ids)s::uuid[])
   and a.quote_state = 'verified'
   and a.snapshot_hash is not null
   and a.quote_start is not null
   and a.quote_end is not null
 order by a.id;

-- body
select body
  from snapshots
 where hash = %(hash)s;
