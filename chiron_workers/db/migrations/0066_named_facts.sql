-- Which of the facts of a statement its judge named, by their places among them, from 1: those that say nothing of a sentence or a
-- cell, or, two by two, those of a section that contradict each other.
alter table verdicts add column named_facts int[] not null default '{}';
