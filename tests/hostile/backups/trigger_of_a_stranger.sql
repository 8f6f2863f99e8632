-- refused: holds the function public.evil_trigger(), which is not Chiron's
create function public.evil_trigger() returns trigger language plpgsql as $$
begin
  copy (select 1) to '{canary}';
  return new;
end $$;
create trigger evil before insert on batches for each row execute function evil_trigger();
