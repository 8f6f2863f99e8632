-- refused: holds the table public.events_9999, which is not Chiron's
create table events_9999 (id int);
