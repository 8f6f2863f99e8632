-- What a page says of itself: its DOI (empty: none), and what kind of source it is. Null where it was read by a version before.
alter table fetches
  add column doi text,
  add column stated_kind text constraint fetches_stated_kind_is_known check (stated_kind in ('expert', 'user-generated'));
