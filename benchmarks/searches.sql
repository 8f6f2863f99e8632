-- nearest
-- The bare search: exactly what the covering index of a subject is for.
select f.id::text as id, f.content
  from (select fact_id from {table}
         where {scope} and status = 'accepted'
         order by (embedding <=> %(vector)s::halfvec) + 0
         limit %(limit)s) as nearest
  join facts f on f.id = nearest.fact_id;

-- worded
-- The bare search by words, as deep as one ranking of a hybrid search.
select f.id::text as id, f.content
  from facts f, (select string_agg(quote_literal(lexeme), ' | ')::tsquery as asked
                   from unnest(to_tsvector('english', %(query)s))) as words
 where {scope} and f.status = 'accepted' and f.tsv @@ asked
 order by ts_rank(f.tsv, asked, 1) desc
 limit %(depth)s;

-- in_a_subject
subject_id = %(subject_id)s

-- in_all
true
