-- Who found that the facts of a question bear its key out: the name of a model; empty where nobody is known to have judged it.
alter table questions add column verdict_by text not null default '';
