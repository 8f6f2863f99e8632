-- of_texts
select id::text as id, array_agg(lexeme) as lexemes, array_agg(cardinality(positions)) as times
  from facts, unnest(tsv) where subject_id = %(subject_id)s group by id;

-- of_a_question
select array_agg(lexeme) as lexemes, array_agg(cardinality(positions)) as times
  from (select language_of_subject(%(subject_id)s) as language) as subject,
       unnest(to_tsvector(language::regconfig, %(words)s) || %(pairs)s::tsvector);

-- all_words
-- What the documentation of Postgres shows first: every word has to be there.
select id::text as id
  from facts, websearch_to_tsquery('english', %(query)s) as asked
 where subject_id = %(subject_id)s and tsv @@ asked
 order by ts_rank(tsv, asked, 1) desc, id
 limit %(limit)s;

-- any_word
select id::text as id
  from facts, (select string_agg(quote_literal(lexeme), ' | ')::tsquery as asked
                 from unnest(to_tsvector('english', %(query)s))) as words
 where subject_id = %(subject_id)s and tsv @@ asked
 order by ts_rank(tsv, asked, 1) desc, id
 limit %(limit)s;
