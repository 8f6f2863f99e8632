-- places
-- Where the quotes of assertions stand, and what was known of their sources when they gave those texts. `is_newest`: where the
-- words around a quote have changed, that is the newest text.
select a.id::text as id, a.source_url, a.snapshot_hash, a.quote_start, a.quote_end, a.window_pieces, a.window_hash,
       coalesce(f.title, '') as title, coalesce(f.author, '') as author, f.published_at
  from (
    select a.id, a.source_url, a.quote_state, coalesce(x.hash, a.snapshot_hash) as snapshot_hash,
           coalesce(x.quote_start, a.quote_start) as quote_start, coalesce(x.quote_end, a.quote_end) as quote_end,
           case when x.hash is null then a.window_pieces end as window_pieces,
           case when x.hash is null then a.window_hash end as window_hash
      from assertions a
      left join changed_contexts x on x.assertion_id = a.id and a.has_new_context and %(is_newest)s
     where a.id = any(%(ids)s::uuid[])
  ) a
  left join lateral (
    select title, author, published_at
      from fetches
     where hash = a.snapshot_hash
       and url = a.source_url
     order by fetched_at
     limit 1
  ) f on true
 where a.quote_state = 'verified'
   and a.snapshot_hash is not null
   and a.quote_start is not null
   and a.quote_end is not null
 order by a.id;

-- body
select body
  from snapshots
 where hash = %(hash)s;
