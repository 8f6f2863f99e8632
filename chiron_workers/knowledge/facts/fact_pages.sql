-- page
select id, subject_id, content, quote, quote_state, verdict, source_url, topic_path, confidence, status, run_id, created_at
  from facts
 where subject_id = %(subject_id)s
   and status = any(%(statuses)s)
   and (%(since)s::timestamptz is null or created_at >= %(since)s)
   and (%(before)s::uuid is null or id < %(before)s)
 order by id desc
 limit %(limit)s;

-- page_of_all
select id, subject_id, content, quote, quote_state, verdict, source_url, topic_path, confidence, status, run_id, created_at
  from facts
 where status = any(%(statuses)s)
   and (%(since)s::timestamptz is null or created_at >= %(since)s)
   and (%(before)s::uuid is null or id < %(before)s)
 order by id desc
 limit %(limit)s;
