-- refused: holds the function public.evil(text), which is not Chiron's
create or replace function public.evil_write() returns void language plpgsql as $$
begin
  copy (select 1) to '{canary}';
end $$;
create or replace function public.evil(text) returns text language plpgsql immutable as $$
begin
  perform public.evil_write();
  return $1;
end $$;
create index evil_index on subjects (evil(title));
