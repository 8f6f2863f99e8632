-- The rows that a worker indexes again since letters and digits have one form (0065). In a migration of its own: whoever reads goes on
-- while the indexes are built; whoever writes waits, for about ten seconds in a million passages.

-- The Arabic script with the joiner of Persian, and the digits of other scripts.
create function has_folded_signs(words text) returns boolean language sql immutable parallel safe as $$
select words ~ '[\u0600-\u06ff\u200c\ufb50-\ufdff\ufe70-\ufefc'
               '\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f'
               '\u0ce6-\u0cef\u0d66-\u0d6f\u0de6-\u0def\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049\u1090-\u1099'
               '\u17e0-\u17e9\u1810-\u1819\u1946-\u194f\u19d0-\u19d9\u1a80-\u1a89\u1a90-\u1a99\u1b50-\u1b59\u1bb0-\u1bb9'
               '\u1c40-\u1c49\u1c50-\u1c59\ua620-\ua629\ua8d0-\ua8d9\ua900-\ua909\ua9d0-\ua9d9\ua9f0-\ua9f9\uaa50-\uaa59'
               '\uabf0-\uabf9]'
$$;

create index facts_of_earlier_words on facts (id) where words_version is null and has_folded_signs(content);
-- The title of a document stands in `tsv` of its passages alone.
create index passages_of_earlier_words on passages (document_id, n)
 where words_version is null and (has_folded_signs(heading) or has_folded_signs(body) or has_folded_signs(tsv::text));
