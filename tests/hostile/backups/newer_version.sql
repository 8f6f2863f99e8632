-- refused: is at schema version 9999, newer than this program
insert into schema_migrations (version, name) values (9999, '9999_from_the_future');
