-- subject
insert into subjects (id, title) values ('benchmark', 'Benchmark') on conflict do nothing;

-- batch
insert into batches (id, name, subject_id, run_count, open_runs, request_hash, budget_usd, finished_at)
values (%(batch_id)s, 'Ten thousand runs', 'benchmark', %(runs)s, 0, 'none', 500, now());

-- runs
insert into runs (id, batch_id, role, subject_id, topic, model, state, max_turns, seq, turns, facts, spent_usd,
                  input_tokens, output_tokens, cache_read_tokens, answer, started_at, finished_at)
select id, %(batch_id)s, 'research', 'benchmark', 'How does case ' || n || ' behave when it meets its neighbour?',
       'claude-opus-5-5', 'completed', 50, %(each)s, %(each)s / 4, 1, 0.01, 900, 400, 40000,
       repeat('Case ' || n || ' weighs ' || n || ' kg in the field, and so does what it meets. ', 8),
       now() - interval '2 hours', now() - interval '1 hour'
  from unnest(%(run_ids)s::uuid[]) with ordinality as run (id, n);

-- facts
insert into facts (id, subject_id, content, quote, source_url, source_score, topic_path, confidence, status, run_id,
                   tsv, source_kind, claimed_score)
select id, 'benchmark', 'Statement ' || n || ' says that a thing of its kind weighs ' || n || ' kg in the field.',
       'A thing of its kind weighs ' || n || ' kg in the field.', 'https://example.org/' || n / 4, 0.9,
       'part ' || n %% 50, 0.9, 'accepted', (%(run_ids)s::uuid[])[1 + n %% cardinality(%(run_ids)s::uuid[])],
       to_tsvector('simple', 'Statement ' || n || ' says that a thing weighs ' || n || ' kg'), 'unknown', 0.9
  from unnest(%(fact_ids)s::uuid[]) with ordinality as fact (id, n);

-- events
-- Of each run the first says that it waits, the last that it is complete, and those between repeat a turn.
insert into events (run_id, seq, batch_id, kind, at, data)
select id, n, %(batch_id)s,
       case when n = 1 then 'run.queued'
            when n = 2 then 'run.started'
            when n = %(each)s then 'run.completed'
            when n %% 4 = 0 then 'model.replied'
            when n %% 4 = 1 then 'tool.called'
            when n %% 4 = 2 then 'tool.returned'
            else 'fact.stored' end,
       now() - interval '1 hour' - (%(each)s - n) * interval '1 minute',
       json_build_object('topic', 'How does a case behave?', 'turn', n / 4, 'text', 'Reads what the next source says.',
                         'name', 'web_fetch', 'call_id', 'call_' || n / 4, 'ms', 20, 'chars', 900, 'cost_usd', 0.001,
                         'input_tokens', 100, 'output_tokens', 50, 'content', 'A thing weighs ' || n || ' kg.',
                         'arguments', json_build_object('url', 'https://example.org/' || n))
  from unnest(%(run_ids)s::uuid[]) as run (id), generate_series(1, %(each)s) as n;

-- end
with run as (
  update runs
     set seq = seq + 1
   where id = %(run_id)s
  returning id, seq, batch_id)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq, batch_id, 'batch.completed', '{"completed": 10000}'
  from run;
