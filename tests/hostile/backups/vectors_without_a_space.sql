-- refused: holds the table public.vectors_7, which is not Chiron's
create table vectors_7 (fact_id uuid);
