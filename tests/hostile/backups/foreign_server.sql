-- refused: holds the foreign data wrapper evil, which is not Chiron's
create foreign data wrapper evil;
