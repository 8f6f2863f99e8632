-- refused: holds the index public.subjects_upper_idx, which is not Chiron's
create index on subjects (upper(title));
