-- The authors of a source as a list of names. Null where a version before has read it, and its one line may be divided in more
-- than one way: a comma parts two persons, or a family name from a given one.
alter table fetches add column authors jsonb;

update fetches
   set authors = to_jsonb(regexp_split_to_array(btrim(author, ' ;'), '\s*;\s*'))
 where author <> ''
   and length(author) < 300  -- a longer line was cut
   and author !~ '[,&·、/|]'
   and author !~* '\m(and|und|et|y|by|par|por)\M'
   -- Of several, a name of one word is a piece of another: "García Márquez; Gabriel".
   and (author !~ ';' or author !~ '(^|;)\s*[^\s;]*\s*(;|$)');
