-- refused: holds the materialized view public.evil, which is not Chiron's
create materialized view evil as select version();
