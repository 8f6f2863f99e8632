-- keeps_session
-- A pooler such as pgbouncer refuses the options of a connection or drops them, and in its transaction mode it shares sessions:
-- then the locks of migrations and of index building keep nobody out, prepared statements vanish, and idle transactions have
-- no limit.
select current_setting('chiron.session', true) is not distinct from 'kept' as is_kept;
