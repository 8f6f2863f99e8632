-- refused: holds the domain public.evil_text, which is not Chiron's
create domain evil_text as text check (pg_read_file('/etc/hostname') is not null);
