-- refused: new row for relation "subjects" violates check constraint
alter table subjects drop constraint subjects_id_is_a_slug;
insert into subjects (id, title) values ('../../etc', 'x');
