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

-- addresses
select url, path
  from documents
 where subject_id = %(subject_id)s
   and (url = any(%(urls)s::text[]) or path = any(%(paths)s::text[]))
 order by url;

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
insert into passages (document_id, n, subject_id, heading, body, language, tsv, words_version)
select text.document_id, text.n, text.subject_id, whole.heading, whole.body, text.language,
       {{passage_tsv}}, %(words_version)s
  from ({{passage_text}}) as text
  join unnest(%(documents)s::uuid[], %(numbers)s::int[], %(headings)s::text[], %(bodies)s::text[])
       as whole (document_id, n, heading, body) using (document_id, n);

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
       coalesce(f.author, '') as author, f.authors, f.published_at, coalesce(f.licence, '') as licence,
       coalesce(f.raw_hash, '') as raw_hash, f.reader, f.left_out
  from documents d
  join snapshots s using (hash)
  left join lateral (
    select author, authors, published_at, licence, raw_hash, reader, left_out
      from fetches
     where url = d.url
       and hash = d.hash
     order by fetched_at desc, id desc
     limit 1) f on true
 where d.subject_id = %(subject_id)s
   and d.url = %(url)s;

-- sharing_subjects
-- Whose nodes belong to the map of a subject as well. Only people share nodes, no run does.
select distinct subject_id
  from nodes
 where shared_with_subjects @> array[%(subject_id)s]
   and subject_id <> %(subject_id)s
   and removed_at is null
 order by subject_id;

-- search
-- Any word of the question may match, since no passage holds all of them. Passages are scored by BM25 as a share of what none
-- can reach, where a word of the title counts as three of the body and one of the heading as two; a document is as good as its
-- best passage. Of a word that most passages have only so many are looked at.
with language as materialized (
  {languages}
   union
  select 'english'
   where exists (select from passages where language is null)
), {{terms}}, lexeme as (
  select query, cardinality(stems) as stems, row_number() over (order by stems) as word
    from term
   order by stems
   limit 64
), hit as materialized (
  select text.document_id, text.n, text.terms, term.word,
         {count_of_term} + 2 * sign(ts_rank('{{0, 0, 0, 1}}', text.tsv, term.query))
                         + sign(ts_rank('{{0, 0, 1, 0}}', text.tsv, term.query)) as count
    from lexeme as term
    cross join lateral (
      select document_id, n, tsv, coalesce(terms, length(tsv)) as terms
        from passages
       where {scope}
         and tsv @@ term.query
       limit %(matches_max)s  -- One look into the index for each word; joined, the planner would read every passage.
    ) as text
), rarity as (
  select word, ln(1 + (greatest(size - count(*), 0) + 0.5) / (count(*) + 0.5)) as idf
    from hit
    cross join (select sum(passages) from documents where {scope}) as corpus (size)
   group by word, size
), passage as (
  select document_id, n,
         sum(idf * count / (count + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * terms / mean)))
         / (select sum(idf) from rarity) as score
    from hit
    join rarity using (word)
    cross join (select avg(terms)::float8 from hit) as length (mean)
   group by document_id, n
), best as (
  select distinct on (document_id) document_id, n, score
    from passage
   order by document_id, score desc, n
)
select d.url, d.title, p.heading, p.body, b.score::float8 as score
  from best b
  join documents d on d.id = b.document_id
  join passages p on p.document_id = b.document_id and p.n = b.n
 order by b.score desc, d.url
 limit %(limit)s;

-- in_a_subject
subject_id = %(subject_id)s

-- in_subjects
subject_id = any(%(subject_ids)s)

-- in_all
true
