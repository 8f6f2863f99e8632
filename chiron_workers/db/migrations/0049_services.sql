-- Hosted services that are no models, such as embedding models and search providers, cost money too. What they cost is part of
-- a run's spent_usd, and stands beside it. Workers of the version before ask them without paying, and count nothing here.
alter table runs
  add column services_usd numeric(14, 6) not null default 0,
  add column unpriced_services int not null default 0; -- calls of services without a price; each is one of unpriced_calls

alter table side_replies add column service text; -- which one answered; null: a model
alter table tool_results add column services_usd numeric(14, 6) not null default 0; -- of cost_usd

-- What a key pays for services outside of runs is spent at once and belongs to no batch: a row a day for each key and service.
alter table allotments add column service text;
create unique index allotments_of_a_service on allotments (key_id, service, ((at at time zone 'utc')::date))
  where service is not null;
