-- refused: holds the column evil" text of runs, which is not Chiron's
alter table runs add column "evil"" text" text default 'x';
