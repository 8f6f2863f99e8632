-- refused: holds the table public.my notes, which is not Chiron's
create table "my notes" (id int);
