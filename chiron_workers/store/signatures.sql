-- unsigned
select hash, body from snapshots
 where signature is null
   and (hash = any(%(hashes)s::text[])
        or hash in (select snapshot_hash from assertions where fact_id = any(%(fact_ids)s::uuid[])));

-- sign
update snapshots s set signature = signed.signature
  from unnest(%(hashes)s::text[], %(signatures)s::bytea[]) as signed (hash, signature)
 where s.hash = signed.hash;
