-- Which of the facts of a statement its judge named, by their places among them, from 1: those that say nothing of a sentence or a
-- cell, or, two by two, those of a section that contradict each other.
alter table verdicts add column named_facts int[] not null default '{}';

-- The model that found that a heading claims no more than its facts; empty where none was asked.
alter table draft_sections add column title_verdict_by text not null default '';
alter table lesson_sections add column title_verdict_by text not null default '';
