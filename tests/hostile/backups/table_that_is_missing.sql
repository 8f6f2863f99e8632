-- refused: lacks the rows of judgements
drop table judgements;
