-- Words in the language of their text: facts and passages know the language whose stems index them, and how long they are.

-- What was generated becomes a column like others; rows stay as they are, in English stems, until a worker has indexed them anew.
alter table facts alter column tsv drop expression;
alter table facts
  add column language text,          -- the text search configuration of its stems; null: of a version that knew English only
  add column terms int;              -- how many terms it has, repeated ones too
alter table passages
  add column language text,
  add column terms int;
create index facts_unindexed on facts (id) where language is null;
create index passages_unindexed on passages (document_id, n) where language is null;

-- Every language that a fact or passage of the subject is in.
alter table subjects add column languages text[] not null default '{}';

-- A worker of the version before writes facts without words, and passages without a language.
create function describe_words() returns trigger language plpgsql as $$
begin
  if new.tsv is null then
    new.tsv := to_tsvector('english', translate(new.content, './_\', '    '));
  end if;
  new.terms := (select coalesce(sum(cardinality(positions)), 0) from unnest(new.tsv));
  if new.language is not null then
    update subjects
       set languages = languages || new.language
     where id = new.subject_id
       and new.language <> all (languages);
  end if;
  return new;
end $$;
create trigger describe_words before insert or update of tsv, language on facts
  for each row execute function describe_words();
create trigger describe_words before insert or update of tsv, language on passages
  for each row execute function describe_words();

-- The language that most facts of a subject are in, by a hundred of them in the order of their hashes, which is as good as chance.
create function language_of_subject(subject text) returns text language sql stable as $$
select coalesce(
  (select mode() within group (order by language)
     from (select language
             from facts
            where subject_id = subject
            order by subject_id, md5(content), md5(source_url)
            limit 100) as sample),
  (select languages[1] from subjects where id = subject))
$$;
