-- refused: which is not Chiron's
create policy evil on subjects using (pg_read_file('/etc/passwd') <> '');
