-- refused: holds the function public.evil(), which is not Chiron's
create function public.evil() returns event_trigger language plpgsql as $$
begin
  copy (select 1) to '{canary}';
end $$;
create event trigger evil on ddl_command_end execute function evil();
alter event trigger evil disable;
