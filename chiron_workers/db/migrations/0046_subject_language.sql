-- The language that most facts of a subject are in: where there is only one, no facts are looked at.
create or replace function language_of_subject(subject text) returns text language sql stable as $$
select case cardinality(languages)
         when 1 then languages[1]
         else coalesce(
           (select mode() within group (order by language)
              from (select language
                      from facts
                     where subject_id = subject
                     order by subject_id, md5(content), md5(source_url)
                     limit 100) as sample),
           languages[1])
       end
  from subjects
 where id = subject
$$;
