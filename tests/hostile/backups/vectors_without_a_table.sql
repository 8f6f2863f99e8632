-- refused: lacks the rows of vectors_1
insert into embedding_spaces (model, hash, dimensions) values ('m', 'h', 4);
