-- subject
select id as subject_id, title, purpose_statement, target_depth
  from subjects
 where id = any(%(subject_ids)s)
 order by id;

-- target
select 'batch' as kind, id, subject_id, name as title
  from batches
 where id = %(id)s
union all
select 'run', id, subject_id, topic
  from runs
 where id = %(id)s;

-- facts_of_a_subject
-- Ids first and pages of them later: each statement is short, so that no snapshot is held open while somebody reads.
select array(select id::text
               from facts
              where subject_id = %(id)s
                and status = any(%(statuses)s)
              order by facts.id desc
              limit %(limit)s) as ids;

-- met_by_runs
-- The facts of a run, or of the runs of a batch: what they stored, what they confirmed, and what they cite. What a search alone
-- returned is none of them.
select fact_id
  from run_facts
 where how in ('stored', 'confirmed', 'cited')
   and run_id in (select id
                    from runs
                   where id = %(id)s
                      or batch_id = %(id)s)

-- facts_of_runs
select array(select id::text
               from facts
              where status = any(%(statuses)s)
                and id in ({{met_by_runs}})
              order by facts.id desc
              limit %(limit)s) as ids;

-- topics
-- The C collation, since what is grouped here is put in order afterwards, and bytes are compared sooner than letters. The
-- order here is nearly that one, so that little is left to do.
select subject_id, topic_path collate "C" as topic_path,
       coalesce(array_agg(id::text order by status <> 'accepted', confidence desc, id)
                filter (where status in ('accepted', 'disputed')), array[]::text[]) as ids,
       count(*) filter (where status = 'disputed') as disputed,
       count(*) filter (where status = 'candidate') as candidates
  from facts
 where {scope}
 group by subject_id, topic_path collate "C"
 order by subject_id collate "C", string_to_array(lower(topic_path collate "C"), '/'), topic_path collate "C";

-- facts_in_a_subject
subject_id = %(id)s

-- facts_in_runs
id in ({{met_by_runs}})

-- counts_of_a_subject
select status, count(*) as facts
  from facts
 where subject_id = %(id)s
 group by status;

-- counts_of_runs
select status, count(*) as facts
  from facts
 where id in ({{met_by_runs}})
 group by status;

-- facts
select id::text as id, subject_id, content, topic_path, status, confidence,
       case when contradictions::text <> '[]' then contradictions end as contradictions,
       validated_at, created_at, valid_from, valid_until, superseded_by::text as superseded_by
  from facts
 where id = any(%(fact_ids)s::uuid[]);

-- assertions
select id::text as id, fact_id::text as fact_id, content, quote, quote_state, quote_start, quote_end,
       source_url, source_score, claimed_confidence, snapshot_hash, created_at, context, verdict, verdict_reason, verdict_by,
       observed_at, valid_from, valid_until, shown_ground as ground, claimed_score, source_kind
  from assertions a
 where fact_id = any(%(fact_ids)s::uuid[])
 order by a.fact_id, a.id <> a.fact_id, a.id;

-- links
select fact_id::text, other_id::text, relation, decided_by, reason, created_at
  from fact_links
 where fact_id = any(%(fact_ids)s::uuid[])
union
select fact_id::text, other_id::text, relation, decided_by, reason, created_at
  from fact_links
 where other_id = any(%(fact_ids)s::uuid[])
 order by 1, 2;

-- fetches
-- The last time that an address gave the very text; where the text was not kept, the last time that it gave any.
select coalesce(f.title, '') as title, coalesce(f.author, '') as author, f.authors, f.published_at,
       coalesce(f.doi, '') as doi, coalesce(f.licence, '') as licence, f.fetched_at, f.left_out, s.content_type, s.chars
  from unnest(%(urls)s::text[], %(hashes)s::text[]) with ordinality as wanted (url, hash, n)
  left join lateral (
    select title, author, authors, doi, published_at, licence, fetched_at, left_out
      from fetches
     where fetches.url = wanted.url
       and (wanted.hash is null or fetches.hash = wanted.hash)
     order by fetched_at desc, id desc
     limit 1
  ) f on true
  left join snapshots s on s.hash = wanted.hash
 order by wanted.n;

-- uses
-- What runs used, by model, and in all where the model is null. `runs` has no index by subject, since reports of subjects
-- are rare and submits are not.
select model, count(*) as runs,
       coalesce(sum(facts), 0)::bigint as facts, coalesce(sum(confirmed), 0)::bigint as confirmed,
       coalesce(sum(cited), 0)::bigint as cited, count(*) filter (where {{nothing_found}}) as nothing_found,
       count(*) filter (where recorded_leases <> lease) as unrecorded_runs,
       {{usage_sums}},
       min(started_at) as started_at, max(finished_at) as finished_at
  from runs
 where {scope}
 group by grouping sets ((model), ())
 order by model nulls last;

-- states
select state, count(*) as runs
  from runs
 where {scope}
 group by state;

-- runs
-- Those that failed come first, since a long list is cut.
select id::text as run_id, number, topic, role, model, state, facts, confirmed, cited, {{nothing_found}} as nothing_found, turns,
       {{usage}},
       concat_ws(': ', nullif(error ->> 'kind', ''), nullif(error ->> 'message', '')) as error,
       started_at, finished_at
  from runs
 where {scope}
 order by state <> 'failed', id
 limit %(limit)s;

-- answer
select answer
  from runs
 where id = %(id)s;

-- answers
-- Of a large batch those that stored most come first. What a writer says at its end is no answer.
select id::text as run_id, topic, answer
  from runs
 where {scope}
   and answer > ''
   and scope is null
   and not silent
 order by facts + confirmed + cited desc, id
 limit %(limit)s;

-- statuses
select id::text as fact_id, status
  from facts
 where id = any(%(fact_ids)s::uuid[]);

-- of_a_subject
subject_id = %(id)s
   and (%(owner)s::text is null or batch_id in (select id from batches where owner = %(owner)s))

-- of_a_batch
batch_id = %(id)s

-- of_a_run
id = %(id)s

-- questions
-- The runs of a target as they were asked, each with its facts in the order in which a report shows them; those that write from facts
-- ask nothing. `hidden_facts` are not of the statuses that are shown.
select id::text as run_id, number, subject_id, topic, context, state, answer, {{nothing_found}} as nothing_found,
       pruned_at is not null as is_pruned,
       coalesce(fact.ids, array[]::text[]) as fact_ids, coalesce(fact.stored_ids, array[]::text[]) as stored_ids,
       coalesce(fact.hidden, 0) as hidden_facts
  from runs
 cross join lateral (
   select array_agg(f.id::text order by case f.status when 'accepted' then 0 when 'disputed' then 1 else 2 end, f.confidence desc, f.id)
            filter (where f.status = any(%(statuses)s)) as ids,
          array_agg(f.id::text) filter (where f.status = any(%(statuses)s) and met.is_stored) as stored_ids,
          count(*) filter (where f.status <> all(%(statuses)s) and f.status <> 'withdrawn') as hidden
     from (select fact_id, bool_or(how = 'stored') as is_stored
             from run_facts
            where run_id = runs.id
              and how in ('stored', 'confirmed', 'cited')
            group by fact_id) met
     join facts f on f.id = met.fact_id) fact
 where {scope}
   and scope is null
   and id > %(after)s
 order by id
 limit %(limit)s;

-- of_runs
id = any(%(run_ids)s::uuid[])

-- question_sizes
-- Of each question in its order how many facts it is the first to have, with how many facts of all are disputed and candidates. The
-- report of a large batch is laid out by this, without reading the questions themselves.
with asked as materialized (
  select id
    from runs
   where {scope}
     and scope is null
   order by id
   limit %(limit)s),
met as (
  select distinct on (m.fact_id) m.fact_id, m.run_id, f.status
    from asked
    join run_facts m on m.run_id = asked.id
    join facts f on f.id = m.fact_id
   where m.how in ('stored', 'confirmed', 'cited')
   order by m.fact_id, m.run_id),
sizes as (
  select run_id,
         (count(*) filter (where status = any(%(statuses)s)))::int as facts,
         count(*) filter (where status = 'disputed') as disputed,
         count(*) filter (where status = 'candidate') as candidates
    from met
   group by run_id)
select array_agg(coalesce(facts, 0) order by id) as sizes,
       coalesce(sum(disputed), 0)::int as disputed,
       coalesce(sum(candidates), 0)::int as candidates
  from asked
  left join sizes on sizes.run_id = asked.id;

-- question_before
select id
  from runs
 where {scope}
   and scope is null
 order by id
offset %(place)s - 1
 limit 1;

-- first_questions
-- The question that is the first to have each fact.
select distinct on (m.fact_id) m.fact_id::text as fact_id, m.run_id::text as run_id
  from run_facts m
 where m.fact_id = any(%(fact_ids)s::uuid[])
   and m.how in ('stored', 'confirmed', 'cited')
   and m.run_id in (select id
                      from runs
                     where {scope}
                       and scope is null)
 order by m.fact_id, m.run_id;

-- question_places
select run_id, place
  from (select id::text as run_id, (row_number() over (order by id) - 1)::int as place
          from runs
         where {scope}
           and scope is null
         order by id
         limit %(limit)s) places
 where run_id = any(%(run_ids)s::text[]);

-- question_topics
-- The first questions, each with the number of its facts.
select number, subject_id, topic,
       (select count(distinct m.fact_id)
          from run_facts m
          join facts f on f.id = m.fact_id
         where m.run_id = runs.id
           and m.how in ('stored', 'confirmed', 'cited')
           and f.status = any(%(statuses)s)) as facts
  from runs
 where {scope}
   and scope is null
 order by id
 limit %(limit)s;

-- attempts
-- What runs searched for and which pages they read, in this order.
select run_id::text as run_id, name, words
  from (select run_id, seq, data ->> 'name' as name,
               coalesce(data -> 'arguments' ->> 'query', data -> 'arguments' ->> 'question', data -> 'arguments' ->> 'url') as words,
               row_number() over (partition by run_id order by seq) as n
          from events
         where run_id = any(%(run_ids)s::uuid[])
           and kind = 'tool.called'
           and data ->> 'name' in ('web_search', 'web_fetch', 'vector_search', 'knowledge_base')) calls
 where n <= %(limit)s
   and words is not null
 order by run_id, n;
