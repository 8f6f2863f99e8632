-- unsigned
select hash, body from snapshots
 where signature is null
   and (hash = any(%(hashes)s::text[])
        or hash in (select snapshot_hash from assertions where fact_id = any(%(fact_ids)s::uuid[])))
 order by hash;

-- sign
-- Locked in one order, so that two that sign the same snapshots do not wait for each other.
with locked as (
  select hash from snapshots where hash = any(%(hashes)s::text[]) order by hash for update
)
update snapshots s set signature = signed.signature
  from unnest(%(hashes)s::text[], %(signatures)s::bytea[]) as signed (hash, signature)
 where s.hash = signed.hash and s.hash in (select hash from locked);
