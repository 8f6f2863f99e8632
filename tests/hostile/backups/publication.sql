-- refused: holds the publication evil, which is not Chiron's
create publication evil for table runs;
