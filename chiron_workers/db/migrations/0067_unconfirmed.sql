-- Rules doubt and never confirm. What they confirmed before is changed by 0069, beside workers: here are the strong locks, which
-- are all taken before the only part that takes long (a second for a million facts), and no row is changed.

drop index facts_unchecked;

-- A worker of the version before still writes that rules support a fact.
create function unconfirm() returns trigger language plpgsql as $$
begin
  new.verdict := 'unchecked';
  new.verdict_reason := 'No model was asked.';
  new.verdict_by := '';
  return new;
end $$;
create trigger rules_confirm_nothing before insert or update of verdict, verdict_by on facts
  for each row when (new.verdict = 'supported' and new.verdict_by = 'rules')
  execute function unconfirm();
create trigger rules_confirm_nothing before insert or update of verdict, verdict_by on corroborations
  for each row when (new.verdict = 'supported' and new.verdict_by = 'rules')
  execute function unconfirm();

-- What `chiron check` asks about.
create index facts_unjudged on facts (subject_id) where verdict_by in ('', 'rules') and quote_state = 'verified';
