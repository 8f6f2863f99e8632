-- refused
select model, refused_at, reason
  from holds
 where refused_at is not null
 order by model;
