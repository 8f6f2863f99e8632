-- clashing_child
-- A child of a node whose title stands already where it would go.
select child.title
  from nodes child
  join nodes other on other.subject_id = child.subject_id and lower(other.title) = lower(child.title) and other.id <> child.id
   and other.id <> %(node_id)s and other.removed_at is null
   and other.parent_id is not distinct from %(parent_id)s
 where child.parent_id = %(node_id)s
   and child.removed_at is null
 limit 1;

-- move_children
-- The nodes below one go below another, or to the top, with all that is below them.
with recursive moved (id) as (
  select id
    from nodes
   where parent_id = %(node_id)s
  union
  select n.id
    from moved
    join nodes n on n.parent_id = moved.id
)
update nodes n
   set parent_id = case when n.parent_id = %(node_id)s then %(parent_id)s::uuid else n.parent_id end,
       depth = greatest(n.depth + %(levels)s, 0), updated_at = now()
  from moved
 where n.id = moved.id
   and n.id is distinct from %(parent_id)s;

-- rewire
-- Whatever needed the node needs others instead.
update nodes
   set prerequisites = array(select distinct id from unnest(array_remove(prerequisites, %(node_id)s) || %(instead)s::uuid[]) as id
                              where id <> nodes.id order by id),
       updated_at = now()
 where prerequisites @> array[%(node_id)s]::uuid[];

-- inherit_prerequisites
update nodes
   set prerequisites = array(select distinct id from unnest(prerequisites || %(prerequisites)s::uuid[]) as id
                              where id <> all(array[nodes.id, %(node_id)s]::uuid[]) order by id),
       updated_at = now()
 where id = %(into_id)s;

-- lock_nodes
-- Whoever writes what hangs on a node holds it first (`hold`), so that nothing is written meanwhile that stays behind.
select id
  from nodes
 where id in (%(node_id)s, %(into_id)s)
 order by id
   for update;

-- move_questions
-- But for those that the other node has in the same words.
update questions q
   set node_id = %(into_id)s
 where q.node_id = %(node_id)s
   and not exists (select
                     from questions o
                    where o.node_id = %(into_id)s
                      and o.question_hash = q.question_hash);

-- move_cards
-- Of two cards of a learner for one question the one that was reviewed last stays.
with card as (
  delete from review_cards
   where node_id = %(node_id)s
  returning learner, question_hash, state, step, stability, difficulty, due_at, last_review_at
)
insert into review_cards as o (learner, node_id, question_hash, state, step, stability, difficulty, due_at, last_review_at)
select learner, %(into_id)s, question_hash, state, step, stability, difficulty, due_at, last_review_at
  from card
    on conflict (learner, node_id, question_hash) do update
       set state = excluded.state, step = excluded.step, stability = excluded.stability, difficulty = excluded.difficulty,
           due_at = excluded.due_at, last_review_at = excluded.last_review_at
     where excluded.last_review_at > o.last_review_at;

-- move_answers
update assessments
   set node_id = %(into_id)s
 where node_id = %(node_id)s;

-- close_quizzes
-- Of two open quizzes of a learner the one on the node that remains goes on; it may ask what the other one leaves.
update quizzes q
   set position = cardinality(q.question_ids)
 where q.node_id = %(node_id)s
   and q.position < cardinality(q.question_ids)
   and exists (select
                 from quizzes o
                where o.learner = q.learner
                  and o.subject_id = q.subject_id
                  and o.node_id = %(into_id)s
                  and o.position < cardinality(o.question_ids));

-- move_quizzes
update quizzes
   set node_id = %(into_id)s
 where node_id = %(node_id)s;

-- move_lessons
update lessons
   set node_id = %(into_id)s
 where node_id = %(node_id)s;

-- move_journeys
-- Those that stand at the node go on at the other one.
update journeys
   set node_id = %(into_id)s
 where node_id = %(node_id)s;

-- move_research
-- An open one stays where the other node has one too, until its run is over.
update node_research r
   set node_id = %(into_id)s
 where r.node_id = %(node_id)s
   and (r.settled_at is not null
        or not exists (select
                         from node_research o
                        where o.node_id = %(into_id)s
                          and o.settled_at is null));

-- reject_proposals
-- Those that would be about one node twice, to remove what is merged away, or the same as another one.
update node_proposals p
   set state = 'rejected', decision_reason = %(reason)s, decided_by = 'rules', decided_at = now()
 where p.state = 'open'
   and %(node_id)s in (p.node_id, p.other_node_id)
   and (p.kind = 'remove'
        or %(into_id)s in (p.node_id, p.other_node_id)
        or exists (select
                     from node_proposals o
                    where o.state = 'open'
                      and o.id <> p.id
                      and o.kind = p.kind
                      and o.node_id = case when p.node_id = %(node_id)s then %(into_id)s else p.node_id end
                      and o.other_node_id = case when p.other_node_id = %(node_id)s then %(into_id)s else p.other_node_id end));

-- move_proposals
-- The draft of a node to add names others by their ids: its parent and its prerequisites.
update node_proposals
   set node_id = case when node_id = %(node_id)s then %(into_id)s else node_id end,
       other_node_id = case when other_node_id = %(node_id)s then %(into_id)s else other_node_id end,
       draft = replace(draft::text, %(node_id)s::text, %(into_id)s::text)::jsonb
 where state = 'open'
   and (%(node_id)s in (node_id, other_node_id)
        or strpos(draft::text, %(node_id)s::text) > 0);

-- remove
update nodes set removed_at = now(), updated_at = now(), prerequisites = '{}', merged_into = %(into_id)s where id = %(node_id)s;

-- follow_merge
update nodes set merged_into = %(into_id)s where merged_into = %(node_id)s;
