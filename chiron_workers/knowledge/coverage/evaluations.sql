-- add
insert into evaluations (id, run_id, call_id, subject_id, model, question, text, scores, overall)
values (%(id)s, %(run_id)s, %(call_id)s, %(subject_id)s, %(model)s, %(question)s, %(text)s, %(scores)s::json,
  %(overall)s);
