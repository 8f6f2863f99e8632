-- save
insert into retracted_sources (url, doi, notice, said_by)
values (%(url)s, %(doi)s, %(notice)s, %(said_by)s)
on conflict (url) do update
   set doi = excluded.doi, notice = excluded.notice, said_by = excluded.said_by;

-- remove
delete from retracted_sources
 where url = %(url)s;
