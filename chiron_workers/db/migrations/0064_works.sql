-- What tells whether two texts are independent: a sample of a text's runs of words with their places, and the studies it names.
-- Both are null until the first fact needs them. `signature` is what workers of the version before compare texts by.
alter table snapshots
  add column sketch bytea,
  add column studies jsonb;
