-- refused: holds the rule public.subjects evil, which is not Chiron's
create rule evil as on insert to subjects do also delete from runs;
