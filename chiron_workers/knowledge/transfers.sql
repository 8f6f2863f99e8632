-- by_subject
-- The facts that a fact of a run is linked to come along, or a contradiction would lose one of its sides, and so does the one
-- that took its place.
select subject_id, array_agg(id::text order by id) as ids
  from facts
 where id in (select unnest(%(fact_ids)s::uuid[])
              union
              select other_id
                from fact_links
               where fact_id = any(%(fact_ids)s::uuid[])
              union
              select fact_id
                from fact_links
               where other_id = any(%(fact_ids)s::uuid[])
              union
              select superseded_by
                from facts
               where id = any(%(fact_ids)s::uuid[]))
 group by subject_id
 order by subject_id;

-- changes
select id::text as id, fact_id::text as fact_id, confidence, status, reason, at
  from fact_changes
 where fact_id = any(%(fact_ids)s::uuid[])
 order by fact_changes.fact_id, fact_changes.id;

-- body
select body
  from snapshots
 where hash = %(hash)s;

-- add_texts
insert into snapshots (hash, body, chars, content_type)
select *
  from unnest(%(hash)s::text[], %(body)s::bytea[], %(chars)s::int[], %(content_type)s::text[])
      as page (hash, body, chars, content_type)
 order by hash
on conflict do nothing
returning hash;

-- add_fetches
-- Where the text itself is not here, nothing can be said of it.
insert into fetches (id, url, hash, title, author, authors, doi, published_at, licence, fetched_at, left_out)
select w.id, w.url, w.hash, w.title, w.author, w.authors, w.doi, w.published_at, w.licence, w.fetched_at, w.left_out::jsonb
  from unnest(%(id)s::uuid[], %(url)s::text[], %(hash)s::text[], %(title)s::text[], %(author)s::text[],
              %(authors)s::jsonb[], %(doi)s::text[],
              %(published_at)s::timestamptz[], %(licence)s::text[], %(fetched_at)s::timestamptz[], %(left_out)s::text[])
       as w (id, url, hash, title, author, authors, doi, published_at, licence, fetched_at, left_out)
  join snapshots s using (hash)
 where not exists (select from fetches f where f.url = w.url and f.hash = w.hash and f.fetched_at = w.fetched_at)
returning id;

-- add_subjects
insert into subjects (id, title, purpose_statement, target_depth)
select *
  from unnest(%(subject_id)s::text[], %(title)s::text[], %(purpose_statement)s::text[], %(target_depth)s::text[])
on conflict (id) do nothing
returning id;

-- find_twins
-- For each statement the fact that says it already, and whether its id is taken.
select twin.id::text as twin_id, exists (select from assertions a where a.id = w.id) as is_taken
  from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(contents)s::text[], %(urls)s::text[])
       with ordinality as w (id, subject_id, content, url, n)
  left join facts twin on twin.subject_id = w.subject_id and md5(twin.content) = md5(w.content)
      and md5(twin.source_url) = md5(w.url)
 order by w.n;

-- find_fetches
-- Which of these addresses gave which of these texts.
select w.url, w.hash
  from unnest(%(urls)s::text[], %(hashes)s::text[]) as w (url, hash)
 where exists (select from fetches f where f.url = w.url and f.hash = w.hash);

-- find_texts
select hash
  from snapshots
 where hash = any(%(hashes)s);

-- add_facts
insert into facts (id, subject_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score,
                   claimed_confidence, snapshot_hash, topic_path, confidence, status, contradictions, validated_at,
                   created_at, context, verdict, verdict_reason, verdict_by, observed_at, valid_from,
                   valid_until, ground, claimed_score, source_kind, language, tsv, words_version)
select id, subject_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score,
       claimed_confidence, snapshot_hash, topic_path, confidence, status, contradictions::json, validated_at, created_at,
       context, verdict, verdict_reason, verdict_by, observed_at, valid_from, valid_until, ground,
       claimed_score, source_kind, language, to_tsvector(language::regconfig, words) || pairs::tsvector, %(words_version)s
  from unnest(%(id)s::uuid[], %(subject_id)s::text[], %(content)s::text[], %(quote)s::text[], %(quote_state)s::text[],
              %(quote_start)s::int[], %(quote_end)s::int[], %(source_url)s::text[], %(source_score)s::real[],
              %(claimed_confidence)s::real[], %(snapshot_hash)s::text[], %(topic_path)s::text[], %(confidence)s::real[],
              %(status)s::text[], %(contradictions)s::text[], %(validated_at)s::timestamptz[],
              %(created_at)s::timestamptz[], %(context)s::text[], %(verdict)s::text[], %(verdict_reason)s::text[],
              %(verdict_by)s::text[], %(observed_at)s::timestamptz[], %(valid_from)s::text[], %(valid_until)s::text[],
              %(ground)s::text[], %(claimed_score)s::real[], %(source_kind)s::text[], %(languages)s::text[],
              %(words)s::text[], %(pairs)s::text[])
       as w (id, subject_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score,
             claimed_confidence, snapshot_hash, topic_path, confidence, status, contradictions, validated_at,
             created_at, context, verdict, verdict_reason, verdict_by, observed_at, valid_from, valid_until, ground, claimed_score,
             source_kind, own_language, words, pairs)
 cross join lateral (select coalesce(own_language, language_of_subject(subject_id), 'english') as language) as text
 order by subject_id, md5(content), md5(source_url)
on conflict do nothing
returning id::text as id;

-- add_assertions
-- What the fact's own row says already is no further assertion.
insert into corroborations (id, fact_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score,
                            claimed_confidence, snapshot_hash, created_at, context, verdict, verdict_reason, verdict_by,
                            observed_at, valid_from, valid_until, ground, claimed_score, source_kind)
select case when exists (select from assertions a where a.id = w.id) then w.spare_id else w.id end,
       fact_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score, claimed_confidence,
       snapshot_hash, created_at, context, verdict, verdict_reason, verdict_by, observed_at, valid_from, valid_until, ground,
       claimed_score, source_kind
  from unnest(%(id)s::uuid[], %(spare_id)s::uuid[], %(fact_id)s::uuid[], %(content)s::text[], %(quote)s::text[],
              %(quote_state)s::text[], %(quote_start)s::int[], %(quote_end)s::int[], %(source_url)s::text[],
              %(source_score)s::real[], %(claimed_confidence)s::real[], %(snapshot_hash)s::text[],
              %(created_at)s::timestamptz[], %(context)s::text[], %(verdict)s::text[], %(verdict_reason)s::text[],
              %(verdict_by)s::text[], %(observed_at)s::timestamptz[], %(valid_from)s::text[], %(valid_until)s::text[],
              %(ground)s::text[], %(claimed_score)s::real[], %(source_kind)s::text[])
       as w (id, spare_id, fact_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score,
             claimed_confidence, snapshot_hash, created_at, context, verdict, verdict_reason, verdict_by, observed_at,
             valid_from, valid_until, ground, claimed_score,
             source_kind)
 where not exists (select from assertions a
                    where a.fact_id = w.fact_id
                      and a.content = w.content
                      and a.source_url = w.source_url
                      and (a.quote_state = w.quote_state or a.quote_state = 'verified'))
on conflict (fact_id, md5(content), md5(source_url), quote_state) do nothing
returning id;

-- add_changes
insert into fact_changes (id, fact_id, confidence, status, reason, at)
select case when exists (select from fact_changes c where c.id = w.id) then w.spare_id else w.id end,
       fact_id, confidence, status, reason, at
  from unnest(%(id)s::uuid[], %(spare_id)s::uuid[], %(fact_id)s::uuid[], %(confidence)s::real[], %(status)s::text[],
              %(reason)s::text[], %(at)s::timestamptz[]) as w (id, spare_id, fact_id, confidence, status, reason, at);

-- add_successors
-- Of facts that were superseded where they come from, and are here.
update facts f
   set superseded_by = w.superseded_by
  from unnest(%(fact_id)s::uuid[], %(superseded_by)s::uuid[]) as w (fact_id, superseded_by)
 where f.id = w.fact_id
   and f.status = 'superseded'
   and f.superseded_by is null
   and exists (select from facts n where n.id = w.superseded_by);

-- add_links
-- Two facts are linked once, whichever came first.
insert into fact_links (fact_id, other_id, relation, decided_by, reason, created_at)
select w.*
  from unnest(%(fact_id)s::uuid[], %(other_id)s::uuid[], %(relation)s::text[], %(decided_by)s::text[],
              %(reason)s::text[], %(created_at)s::timestamptz[])
       as w (fact_id, other_id, relation, decided_by, reason, created_at)
 where w.fact_id <> w.other_id
   and not exists (select from fact_links l where l.fact_id = w.other_id and l.other_id = w.fact_id)
on conflict (fact_id, other_id) do nothing
returning fact_id;
