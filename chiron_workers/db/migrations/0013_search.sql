-- Search: the words of facts beside their vectors, and what is known of the approximate indexes.

-- Rewrites the table, about 40 s for a million facts. Dots, slashes and underscores become spaces, since the parser of Postgres would
-- take `str.format` for the name of a host and `read/write` for a path.
alter table facts add column tsv tsvector not null
  generated always as (to_tsvector('english', translate(content, './_\', '    '))) stored;
create index facts_words on facts using gin (subject_id, tsv);

-- An approximate index over the vectors of a large subject, or of all, and what was measured of it when it was built.
create table vector_indexes (
  name text primary key,             -- of the index itself
  space_id int not null references embedding_spaces on delete cascade,
  subject_id text references subjects on delete cascade,  -- null: over all subjects
  facts int not null,                -- with a vector, when it was built
  lists int not null,
  probes int not null,               -- lists that a search looks into
  recall real not null constraint vector_indexes_recall_is_a_share check (recall between 0 and 1),
  built_at timestamptz not null default now(),
  constraint vector_indexes_one_of_each unique nulls not distinct (space_id, subject_id)
);
create index vector_indexes_subject on vector_indexes (subject_id);

-- While facts was rewritten nobody could renew a lease: the living holders get time to report back.
update runs set leased_until = greatest(leased_until, clock_timestamp() + interval '30 seconds') where state = 'running';
