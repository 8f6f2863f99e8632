-- The list of authors of sources that versions before have read, apart from the new column, so that it locks rows alone. Null where
-- the one line may be divided in more than one way: a comma parts two persons, or a family name from a given one, and readers parted
-- names at their own commas.
update fetches
   set authors = to_jsonb(regexp_split_to_array(btrim(author, ' ;'), '\s*;\s*'))
 where author <> ''
   and authors is null
   and length(author) < 300  -- a longer line was cut
   and author !~ '[,&·•、，；/|]'
   and author !~* '\m(and|und|et|y|e|with|mit|by|par|por|al|others)\M'
   -- Of several, a name of one word is a piece of another ("García Márquez; Gabriel"), and so may be one behind a particle.
   and (author !~ ';' or author !~ '(^|;)\s*[^\s;]*\s*(;|$)')
   and (author !~ ';' or author !~ '(^|;)\s*(da|das|de|del|della|den|der|di|do|dos|du|la|le|van|vom|von|zu|zum|zur|De|Da|Van|Von)\s');
