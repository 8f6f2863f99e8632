-- refused: lacks the column confidence of vectors_1
insert into embedding_spaces (model, hash, dimensions) values ('m', 'h', 4);
create table vectors_1 (fact_id uuid);
