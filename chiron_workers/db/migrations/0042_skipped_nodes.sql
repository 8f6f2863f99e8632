-- Nodes that a journey passes over, as nothing could be written about them. Not validated: no row has the new event yet, and
-- workers of the version before write only the ones that they know.
alter table journeys
  add column skipped_node_ids uuid[] not null default '{}',
  drop constraint journeys_event_is_known,
  add constraint journeys_event_is_known check (event in
    ('started', 'mapped', 'round_ended', 'researched', 'questions_written', 'lesson_written', 'lesson_stale', 'lesson_read',
     'quiz_finished', 'mastered', 'review_due', 'paused', 'run_failed', 'nothing_found', 'node_skipped', 'cancelled', 'resumed'))
    not valid;
