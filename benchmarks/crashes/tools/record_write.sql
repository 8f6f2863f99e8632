-- write
insert into assessments (id, learner, node_id, question_hash, response, correct, run_id)
values (%(id)s, 'nobody', %(node_id)s, %(mark)s, %(call)s, true, %(run_id)s);
