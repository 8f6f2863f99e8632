"""Learning a subject: what is ordered for it (a map, research, lessons, questions), and the journeys of learners through it."""
