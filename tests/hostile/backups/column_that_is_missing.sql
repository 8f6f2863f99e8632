-- refused: lacks the column topic of runs
alter table runs drop column topic;
