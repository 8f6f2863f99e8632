-- subject
insert into subjects (id, title) values ('benchmark', 'Benchmark') on conflict do nothing;

-- batch
insert into batches (id, name, subject_id, run_count, open_runs, request_hash, budget_usd)
values (%(batch_id)s, 'Ten thousand runs', 'benchmark', %(runs)s, 1, 'none', 500);

-- runs
-- They end one after the other, as runs do: which ended last is read from an index of these times.
insert into runs (id, batch_id, role, subject_id, topic, model, state, max_turns, turns, facts, spent_usd,
                  answer, started_at, finished_at)
select id, %(batch_id)s, 'research', 'benchmark', 'How does case ' || n || ' behave when it meets its neighbour?',
       'claude-opus-5-5', case when n = 1 then 'running' else 'completed' end, 50, n %% 40, 1, 0.01,
       case when n > 1 then repeat('Case ' || n || ' weighs ' || n || ' kg in the field (https://example.org/' || n || '). ', 4) end,
       now() - interval '2 hours', case when n > 1 then now() - interval '1 hour' + n * interval '100 milliseconds' end
  from unnest(%(run_ids)s::uuid[]) with ordinality as run (id, n);

-- facts
insert into facts (id, subject_id, content, quote, source_url, source_score, topic_path, confidence, status, run_id, tsv,
                   source_kind, claimed_score)
select id, 'benchmark', 'Statement ' || n || ' says that a thing of its kind weighs ' || n || ' kg in the field.',
       'A thing of its kind weighs ' || n || ' kg in the field.', 'https://example.org/' || n, 0.9,
       'part ' || n %% 50, 0.9, 'accepted', (%(run_ids)s::uuid[])[1 + n %% cardinality(%(run_ids)s::uuid[])],
       to_tsvector('simple', 'Statement ' || n || ' says that a thing weighs ' || n || ' kg'), 'unknown', 0.9
  from unnest(%(fact_ids)s::uuid[]) with ordinality as fact (id, n);

-- ended_batches
-- Between their ends all facts were stored.
insert into batches (id, name, subject_id, run_count, open_runs, request_hash, finished_at)
values (%(earlier_id)s, 'The week before', 'benchmark', 1, 0, 'earlier', now() - interval '1 day'),
       (%(later_id)s, 'This week', 'benchmark', 1, 0, 'later', now());

-- events
with run as (
  update runs
     set seq = seq + %(events)s
   where id = %(run_id)s
  returning id, batch_id, seq)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq - %(events)s + n, batch_id,
       case n %% 3 when 0 then 'model.replied' when 1 then 'tool.called' else 'tool.returned' end,
       json_build_object('turn', n / 3, 'text', 'Reads what the next source says.', 'name', 'web_fetch',
                         'call_id', 'call_' || (n + 1) / 3, 'ms', 20, 'chars', 900,
                         'arguments', json_build_object('url', 'https://example.org/' || n))
  from run, generate_series(1, %(events)s) as n
returning batch_id, run_id, seq, kind, at, data;

-- fact_for
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, run_id, tsv)
values (%(id)s, 'benchmark', 'Statement that arrives as number ' || %(n)s || '.', 'https://example.org/new/' || %(n)s, 0.9,
        'new', 0.9, 'accepted', %(run_id)s, to_tsvector('simple', 'arrives'));
