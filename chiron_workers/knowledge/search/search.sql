-- hybrid
-- Each fact that is among the best of either ranking gets both scores, so that a fact which only one ranking lists is not
-- taken to be nothing in the other. Cosines are spread over 0 to 1 among these facts, since models differ in how far apart
-- theirs lie; words are a share of what the query could reach, so that words which answer little of it count little. A fact
-- without a vector is as good as its words.
with {matching},
candidate as (
  select c.fact_id, coalesce(w.score, 0) as words, 1 - (v.embedding <=> %(vector)s::halfvec) as cosine
    from (select fact_id from nearest
          union
          select fact_id from ({worded}) as worded) as c
    left join word_score w using (fact_id)
    left join {table} v using (fact_id)
), share as (
  select fact_id, words,
         case when max(cosine) over () > min(cosine) over ()
              then (cosine - min(cosine) over ()) / (max(cosine) over () - min(cosine) over ())
              else cosine * 0 + 1
         end as meaning
    from candidate
), best as (
  select fact_id, weight * coalesce(meaning, words) + (1 - weight) * words as score
    from share
    cross join ({weight}) as fusion (weight)
   order by score desc, fact_id
   limit %(limit)s
)
{shown}

-- vector
with best as materialized (
  select fact_id, 1 - distance as score
    from ({nearest}) as nearest
   order by distance, fact_id
   limit %(limit)s
)
{shown}

-- text
with {matching},
best as (
  select fact_id, score
    from ({worded}) as worded
   order by score desc, fact_id
   limit %(limit)s
)
{shown}

-- weight
-- Of the vectors in the fused score: less where query or subject are in a language that the embedding model does not know.
select case when %(embedded_languages)s::text[] is null
              or coalesce(%(query_language)s, {subject_language}, 'english') = any(%(embedded_languages)s)
                 and coalesce({subject_language}, 'english') = any(%(embedded_languages)s)
            then %(vector_weight)s::float8
            else %(foreign_vector_weight)s::float8
       end

-- language_of_a_subject
(select language_of_subject(%(subject_id)s))

-- language_of_all
null::text

-- if_few
-- This and the next are asked within the search, so that most searches need no other statement: where one does not hold
-- nothing is read and nothing found, and the search is made another way.
and (select facts from size) <= %(few)s

-- if_unindexed
-- A subject that has an index is left to the search of large ones, which asks whether the index is usable.
and not exists (select
                  from vector_indexes i
                  join embedding_spaces s on s.id = i.space_id
                 where s.model = %(model)s
                   and s.hash = %(hash)s
                   and s.dimensions = %(dimensions)s
                   and i.subject_id = %(subject_id)s)

-- nearest_exactly
-- `+ 0` keeps the planner from an approximate index: filter first, then rank exactly what is left. Recall is 1.0.
select fact_id, distance, row_number() over (order by distance, fact_id) as place
  from (select f.fact_id, (f.embedding <=> %(vector)s::halfvec) + 0 as distance
          from {table} f
         where {condition}
         order by (f.embedding <=> %(vector)s::halfvec) + 0, f.fact_id
         limit %(depth)s) as found

-- nearest_about
-- Through the approximate index; what it gives is not quite in order.
select fact_id, distance, row_number() over (order by distance, fact_id) as place
  from (select f.fact_id, f.embedding <=> %(vector)s::halfvec as distance
          from {table} f
         where {condition}
         order by f.embedding <=> %(vector)s::halfvec
         limit %(depth)s) as found

-- further
and f.fact_id in (select f.id from facts f where {condition})

-- matching
-- The words of the query, rarest first, and the longest of those that are not known to be common. All facts that hold one of
-- the rarest are ranked, as many words as promise `expected_max` facts; the other words only add to the rank of those. How
-- common a word is comes from Postgres' last analysis of the table, where a word that is not listed is rare, or from a sample of
-- the subject. Facts are scored by BM25 (Robertson and Zaragoza, 2009), as a share of what no fact can reach, so from 0 to 1.
size as materialized (
  select {size} as facts
), common as materialized (
  {common}
), language as materialized (
  {languages}
   union
  select 'english'
   where exists (select from facts where language is null)
), {{terms}}, lexeme as materialized (
  select query, cardinality(stems) as stems, coalesce(share, 0) * facts as expected,
         row_number() over rarest_first as n,
         row_number() over rarest_first = 1
             or sum(coalesce(share, 0) * facts) over rarest_first <= %(expected_max)s as is_rare
    from size
    cross join term
    left join lateral ({share}) as frequency on true
  window rarest_first as (order by coalesce(share, 0), length(stems[1]) desc, stems rows unbounded preceding)
   order by coalesce(share, 0), length(stems[1]) desc, stems
   limit %(words_max)s
), rare as materialized (
  select string_agg('(' || query::text || ')', ' | ')::tsquery as words
    from lexeme
   where is_rare
),
{nearest}
match as materialized (
  (select f.id, f.tsv, coalesce(f.terms, length(f.tsv)) as terms
     from facts f
    where f.tsv @@ (select words from rare)
      and {condition}
    limit %(matches_max)s)
  {nearest_matches}
), hit as materialized (
  select text.id, term.n, term.expected,
         {count_of_term} as count,
         %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * text.terms / (select avg(terms)::float8 from match)) as norm
    from match as text
    join lexeme as term on text.tsv @@ term.query
), rarity as materialized (
  select n, ln(1 + (total - df + 0.5) / (df + 0.5)) as idf
    from (select n, least(greatest(count(*), max(expected)), total) as df, total
            from hit
            cross join (select greatest(facts, (select count(*) from match)) as total from size) as searched
           group by n, total) as frequency
), word_score as materialized (
  select id as fact_id, sum(idf * count / (count + norm)) / (select sum(idf) from rarity) as score
    from hit
    join rarity using (n)
   group by id
)

-- nearest_first
nearest as materialized ({nearest}),

-- nearest_matches
-- What is near is scored by its words too, though it has none of the rarest.
union all
select f.id, f.tsv, coalesce(f.terms, length(f.tsv))
  from nearest
  join facts f on f.id = nearest.fact_id
 where not f.tsv @@ (select words from rare)
   and exists (select from lexeme where not is_rare)

-- worded
select fact_id, score
  from word_score
 order by score desc, fact_id
 limit %(depth)s

-- common_words
select word, share
    from pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as listed (word, share)
   where s.schemaname = current_schema()
     and s.tablename = 'facts'
     and s.attname = 'tsv'
     and word is not null

-- share_listed
select max(share) as share
  from common
 where word = any(stems)

-- sampled_facts
-- To plan a look into the statistics takes longer than to read some facts, in the order of their hashes, which is as good as
-- chance. Among so few that all of them may be ranked, each word may be looked up.
select tsv
  from facts
 where subject_id = %(subject_id)s
   and (select facts from size) > %(expected_max)s
 order by subject_id, md5(content), md5(source_url)
 limit %(sample_max)s

-- share_sampled
select avg((tsv @@ query)::int)::real as share
  from common

-- count_up_to
select count(*)::int as facts
  from (select from facts where subject_id = %(subject_id)s limit %(limit)s) as few;

-- size_of_a_subject
-- As Postgres' last analysis has it; of a subject that it does not list, that it is not one of the largest.
coalesce((select (share * (select reltuples from pg_class where oid = 'facts'::regclass))::bigint
            from pg_stats s, unnest(s.most_common_vals::text::text[], s.most_common_freqs) as listed (value, share)
           where s.schemaname = current_schema()
             and s.tablename = 'facts'
             and s.attname = 'subject_id'
             and value = %(subject_id)s), 20000)

-- size_of_all
(select greatest(reltuples, 1)::bigint from pg_class where oid = 'facts'::regclass)

-- size_known
%(size)s::bigint

-- size_counted
(select count(*) from (select from facts where subject_id = %(subject_id)s limit %(few)s + 1) as counted)

-- shown
select f.id::text as id, f.subject_id, f.content, f.quote, f.quote_state, f.context, f.verdict, f.source_url, f.source_score,
       f.topic_path, f.confidence, f.status, round(b.score::numeric, 6)::float8 as score, {similarity} as similarity,
       (select count(distinct c.source_url) from corroborations c
         where c.fact_id = f.id
           and c.source_url <> f.source_url)::int as corroborations,
       array(select distinct o.id
               from fact_links l
               join facts o on o.id = case when l.fact_id = f.id then l.other_id else l.fact_id end
              where (l.fact_id = f.id or l.other_id = f.id)
                and l.relation = 'contradicts'
                and o.status not in ('superseded', 'withdrawn')
              order by o.id)::text[] as contradicted_by,
       to_char(f.observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as observed_at, f.valid_from, f.valid_until,
       case when f.ground = 'stands' and f.has_new_context then 'context changed' else f.ground end as ground,
       f.superseded_by::text as superseded_by,
       %(recall)s::float8 as recall
  from best b
  join facts f on f.id = b.fact_id {vectors}
 order by b.score desc, b.fact_id;

-- similarity
round((1 - (v.embedding <=> %(vector)s::halfvec))::numeric, 6)::float8

-- similarity_ranked
-- A search by vectors alone has compared them already.
round(b.score::numeric, 6)::float8

-- no_similarity
null::float8

-- vectors
left join {table} v on v.fact_id = f.id

-- plan_with
select set_config(name, value, true)
  from unnest(%(names)s::text[], %(values)s::text[]) as given (name, value);

-- same_text
-- Whether a text that is named bears the fact out, word for word. Looked for among what is asserted of the fact, and not among
-- all that rests on the text.
exists (
  select
    from assertions a
   where a.fact_id = f.id
     and case a.snapshot_hash when %(quoted_hash)s then a.quote_state = 'verified' end
) as is_same_text

-- nearest
select f.id::text as id, f.content, f.status, round((1 - n.distance)::numeric, 6)::float8 as cosine,
       {{same_text}}
  from ({nearest}) as n
  join facts f on f.id = n.fact_id
 order by n.place;

-- unembedded
select count(*) as facts
  from facts f
 where {scope}
   and f.status in ('accepted', 'disputed')
   and not exists (select from {table} v where v.fact_id = f.id);

-- accepted
select count(*) as facts
  from facts
 where {scope}
   and status in ('accepted', 'disputed');

-- background
-- What is known of facts beside their words: when they were validated, what contradicts them, and the title of the page
-- they rest on as it was last fetched.
select f.id::text as id, f.validated_at, f.contradictions,
       coalesce((select title from fetches where url = f.source_url order by fetched_at desc, id desc limit 1), '')
         as source_title
  from facts f
 where f.id = any(%(fact_ids)s::uuid[]);

-- in_a_subject
subject_id = %(subject_id)s

-- in_all
true
