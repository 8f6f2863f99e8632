-- refused: holds the schema elsewhere, which is not Chiron's
create schema elsewhere;
create table elsewhere.runs (id int);
