-- keep
insert into kept_facts (run_id, call_id, content, quote, source_url, embedding)
values (%(run_id)s, %(call_id)s, %(content)s, %(quote)s, %(source_url)s, %(embedding)s);
