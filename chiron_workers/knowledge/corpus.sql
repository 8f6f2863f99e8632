-- save
-- One row for each address of a subject; a document that is added again takes the place of the old one.
with before as (
  select url, hash
    from documents
   where subject_id = %(subject_id)s
     and url = any(%(urls)s::text[])
), saved as (
  insert into documents (id, subject_id, url, title, hash, passages, path)
  select id, %(subject_id)s, url, title, hash, passages, path
    from unnest(%(ids)s::uuid[], %(urls)s::text[], %(titles)s::text[], %(hashes)s::text[], %(passages)s::int[],
                %(paths)s::text[]) as document (id, url, title, hash, passages, path)
   order by url
  on conflict (subject_id, url) do update
     set title = excluded.title, hash = excluded.hash, passages = excluded.passages, path = excluded.path, added_at = now()
  returning id, url, hash
)
select s.id, s.url, s.id <> all (%(ids)s::uuid[]) as replaced, b.hash is not distinct from s.hash as is_same
  from saved s
  left join before b using (url)
 order by s.url;

-- missing
select url
  from documents
 where subject_id = %(subject_id)s
   and starts_with(path, %(folder)s)
   and url <> all(%(present)s::text[])
 order by url;

-- remove
delete from documents
 where subject_id = %(subject_id)s
   and url = any(%(urls)s::text[]);

-- clear
delete from passages
 where document_id = any (%(ids)s::uuid[]);

-- save_passages
-- Title and heading weigh more than the body. Dots and underscores become spaces, since the parser of Postgres
-- would take `str.format` for the name of a host and `read/write` for a path.
insert into passages (document_id, n, subject_id, heading, body, tsv)
select document_id, n, %(subject_id)s, heading, body,
       setweight(to_tsvector('english', translate(title, './_\', '    ')), 'A')
       || setweight(to_tsvector('english', translate(heading, './_\', '    ')), 'B')
       || setweight(to_tsvector('english', translate(body, './_\', '    ')), 'D')
  from unnest(%(documents)s::uuid[], %(numbers)s::int[], %(titles)s::text[], %(headings)s::text[], %(bodies)s::text[])
       as passage (document_id, n, title, heading, body);

-- documents
select d.subject_id, d.url, d.title, s.chars, d.passages, d.added_at
  from documents d
  join snapshots s using (hash)
 where %(subject_id)s::text is null or d.subject_id = %(subject_id)s
 order by d.subject_id, d.url
 limit %(limit)s;

-- document
-- What its file said of itself stands where its text was kept.
select d.url, d.hash, d.title, d.added_at as fetched_at, s.body, s.content_type,
       coalesce(f.author, '') as author, f.published_at, coalesce(f.licence, '') as licence,
       coalesce(f.raw_hash, '') as raw_hash, f.reader
  from documents d
  join snapshots s using (hash)
  left join lateral (
    select author, published_at, licence, raw_hash, reader
      from fetches
     where url = d.url
       and hash = d.hash
     order by fetched_at desc, id desc
     limit 1) f on true
 where d.subject_id = %(subject_id)s
   and d.url = %(url)s;

-- search
-- Any word of the question may match, since no passage holds all of them; a rare word counts more than a common
-- one (inverse document frequency), and a document is as good as its best passage. Sums of ranks are about 0.02 for
-- a passing mention and 0.2 for a title; the last line spreads them over 0 to 1.
with lexeme as (
  select lexeme, quote_literal(lexeme)::tsquery as query
    from unnest(to_tsvector('english', translate(%(query)s, './_\', '    ')))
   limit 64
), hit as materialized (
  select p.document_id, p.n, l.lexeme, ts_rank('{{0.2, 0.3, 0.6, 1.0}}', p.tsv, l.query, 1) as rank
    from lexeme l
    cross join lateral (
      select document_id, n, tsv
        from passages
       where {scope}
         and tsv @@ l.query
      offset 0  -- One look into the index for each word; joined, the planner would read every passage.
    ) p
), rarity as (
  select lexeme, ln(1 + (select sum(passages) from documents where {scope}) / count(*)) as idf
    from hit
   group by lexeme
), passage as (
  select document_id, n, sum(rank * idf) / (select sum(idf) from rarity) as score
    from hit
    join rarity using (lexeme)
   group by document_id, n
), best as (
  select distinct on (document_id) document_id, n, score
    from passage
   order by document_id, score desc, n
)
select d.url, d.title, p.heading, p.body, b.score / (b.score + 0.05) as score
  from best b
  join documents d on d.id = b.document_id
  join passages p on p.document_id = b.document_id and p.n = b.n
 order by b.score desc, d.url
 limit %(limit)s;

-- in_a_subject
subject_id = %(subject_id)s

-- in_all
true
