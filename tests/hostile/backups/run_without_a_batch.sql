-- refused: violates foreign key constraint
set session_replication_role = replica;
delete from batches;
