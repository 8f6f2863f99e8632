-- fact_to_index
select id, content, exists (select from duty_failures f where f.duty = 'words' and f.item = facts.id::text) as has_failed
  from facts

-- facts_in_turn
-- Rows that another process indexes at this moment are its own.
   and not exists (select from duty_failures f where f.duty = 'words' and f.item = facts.id::text and f.retry_at > now())
 order by id
 limit %(limit)s
   for update skip locked

-- facts
{{fact_to_index}}
 where language is null
{{facts_in_turn}};

-- earlier_facts
-- Not in one query with those above: a partial index is read in its order where its condition is the only one.
{{fact_to_index}}
 where words_version is null
   and has_folded_signs(content)
{{facts_in_turn}};

-- index_facts
update facts f
   set language = text.language,
       tsv = to_tsvector(text.language::regconfig, text.words) || text.pairs::tsvector,
       words_version = %(words_version)s
  from (select id, words, pairs, coalesce(t.language, language_of_subject(facts.subject_id), 'english') as language
          from unnest(%(ids)s::uuid[], %(languages)s::text[], %(words)s::text[], %(pairs)s::text[])
               as t (id, language, words, pairs)
          join facts using (id)) as text
 where f.id = text.id;

-- passage_to_index
select p.document_id, p.n, d.title, p.heading, p.body,
       exists (select from duty_failures f where f.duty = 'words' and f.item = p.document_id || ' ' || p.n) as has_failed
  from passages p
  join documents d on d.id = p.document_id

-- passages_in_turn
   and not exists (select
                     from duty_failures f
                    where f.duty = 'words'
                      and f.item = p.document_id || ' ' || p.n
                      and f.retry_at > now())
 order by p.document_id, p.n
 limit %(limit)s
   for update of p skip locked

-- passages
{{passage_to_index}}
 where p.language is null
{{passages_in_turn}};

-- earlier_passages
-- The words of the title stand in `tsv` alone.
{{passage_to_index}}
 where p.words_version is null
   and (has_folded_signs(p.heading) or has_folded_signs(p.body) or has_folded_signs(p.tsv::text))
{{passages_in_turn}};

-- passage_tsv
-- Title and heading weigh more than the body.
setweight(to_tsvector(text.language::regconfig, text.title_words) || text.title_pairs::tsvector, 'A')
|| setweight(to_tsvector(text.language::regconfig, text.heading_words) || text.heading_pairs::tsvector, 'B')
|| setweight(to_tsvector(text.language::regconfig, text.body_words) || text.body_pairs::tsvector, 'D')

-- passage_text
select t.*, d.subject_id,
       coalesce(body_language, title_language, heading_language, language_of_subject(d.subject_id), 'english') as language
  from unnest(%(documents)s::uuid[], %(numbers)s::int[], %(title_languages)s::text[], %(title_words)s::text[],
              %(title_pairs)s::text[], %(heading_languages)s::text[], %(heading_words)s::text[],
              %(heading_pairs)s::text[], %(body_languages)s::text[], %(body_words)s::text[], %(body_pairs)s::text[])
       as t (document_id, n, title_language, title_words, title_pairs, heading_language, heading_words, heading_pairs,
             body_language, body_words, body_pairs)
  join documents d on d.id = t.document_id

-- index_passages
update passages p
   set language = text.language,
       tsv = {{passage_tsv}},
       words_version = %(words_version)s
  from ({{passage_text}}) as text
 where p.document_id = text.document_id
   and p.n = text.n;

-- terms
-- What a query looks up, as parts of a statement after the languages of what is searched. A word of the query has a stem for
-- each of the languages and counts once, whichever of them a text has; what is a stop word in the query's own language is none.
word as (
  select position, array_agg(distinct lexeme) as stems
    from language
    cross join unnest(to_tsvector(language.name::regconfig, %(words)s)) as stem (lexeme, positions)
    cross join unnest(positions) as position
   where %(query_language)s::text is null
      or position in (select unnest(positions)
                        from unnest(to_tsvector(%(query_language)s::text::regconfig, %(words)s)))
   group by position
), term as (
  select stems, (select string_agg(quote_literal(stem), ' | ') from unnest(stems) as stem)::tsquery as query
    from word
   group by stems
  union all
  select array[btrim(pair, ''':*')], pair::tsquery
    from unnest(%(pairs)s::text[]) as pair
   group by pair
)

-- languages_of_a_subject
select unnest(languages) as name
  from subjects
 where id = %(subject_id)s

-- languages_of_subjects
select unnest(languages) as name
  from subjects
 where id = any(%(subject_ids)s)

-- languages_of_all
select unnest(languages) as name
  from subjects

-- count_of_term
-- How often a text has one of the stems of a term: with equal weights ts_rank is the sum of 1 / i² up to that count, over
-- pi² / 6 and over the number of stems.
0.64 / (1 / least(ts_rank('{1, 1, 1, 1}', text.tsv, term.query) * term.stems, 0.95) - 1)
