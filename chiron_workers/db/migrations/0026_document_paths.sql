-- Where a document's file is, so that it can be read again. Null: nobody knows.
alter table documents add column path text;
create index documents_paths on documents (subject_id, path text_pattern_ops) where path is not null;
