-- has_database
select from pg_database where datname = %(name)s;

-- create_database
create database chiron;
