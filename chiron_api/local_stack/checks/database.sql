-- pgvector
select default_version, installed_version from pg_available_extensions where name = 'vector';
