-- sources
-- The addresses that facts of a subject rest on which are shown, or would be if their sources said so again: what was read
-- longest ago first.
select s.url, d.path, d.hash is not null as is_document, count(*) over ()::int as total
  from (
    select distinct a.source_url as url
      from facts f
      join assertions a on a.fact_id = f.id
     where f.subject_id = %(subject_id)s
       and (f.status in ('accepted', 'disputed', 'superseded')
       or (f.status <> 'withdrawn' and a.shown_ground = 'context changed'))
  ) s
  left join documents d on d.subject_id = split_part(s.url, '/', 3) and d.url = s.url  -- corpus://subject/path
 order by (select max(fetched_at) from fetches where url = s.url) nulls first, s.url
 limit %(limit)s;

-- dois
-- What the newest text of each address says is its DOI.
select distinct on (url) url, doi
  from fetches
 where url = any(%(urls)s)
 order by url, fetched_at desc, id desc;

-- facts
select f.id::text as id, f.content, f.status, f.source_url, f.superseded_by::text as superseded_by,
       string_agg(distinct x.words, '; ') as context_change
  from facts f
  join assertions a on a.fact_id = f.id
  left join changed_contexts x on x.assertion_id = a.id and a.shown_ground = 'context changed'
 where f.subject_id = %(subject_id)s
   and md5(a.source_url) = any(array(select md5(url) from unnest(%(urls)s::text[]) as asked (url)))
 group by f.id
 order by f.id;
