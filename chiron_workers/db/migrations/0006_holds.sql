-- Models that nobody can call for a while, say since a spend limit of the account is reached: their runs wait.
create table holds (
  model text primary key,
  until timestamptz not null,
  reason text not null
);
