"""How well somebody knows something, from right and wrong answers: Bayesian Knowledge Tracing."""

from collections.abc import Iterable

# Ours, within the bounds that keep the model sensible (guess <= 0.3, slip <= 0.1; Baker, Corbett & Aleven,
# 2008): three right answers in a row make a beginner a master, and one slip costs a master little.
KNOWN_AT_FIRST = 0.2
LEARNT_PER_ANSWER = 0.15
GUESS = 0.2
SLIP = 0.1
MASTERED = 0.95


def mastery(answers: Iterable[bool]) -> float:
    """The probability, 0 to 1, that a learner who gave these answers, oldest first, knows the matter now.

    Bayesian Knowledge Tracing: Corbett, A. T. & Anderson, J. R. (1995), Knowledge tracing: modeling the
    acquisition of procedural knowledge, User Modeling and User-Adapted Interaction 4, 253-278,
    doi:10.1007/BF01099821. With p(L) known, p(T) learnt at each answer, p(G) guessed right and p(S) slipped,
    each answer first shifts what we believe:

        right: p(L | answer) = p(L) (1 - p(S)) / (p(L) (1 - p(S)) + (1 - p(L)) p(G))
        wrong: p(L | answer) = p(L) p(S)       / (p(L) p(S)       + (1 - p(L)) (1 - p(G)))

    and then counts as practice: p(L) = p(L | answer) + (1 - p(L | answer)) p(T). Here p(L) at first = 0.2,
    p(T) = 0.15, p(G) = 0.2, p(S) = 0.1; from 0.95 on, the paper's criterion, it counts as mastered.
    """
    known = KNOWN_AT_FIRST
    for is_right in answers:
        if_known, if_not = (1 - SLIP, GUESS) if is_right else (SLIP, 1 - GUESS)
        believed = known * if_known / (known * if_known + (1 - known) * if_not)
        known = believed + (1 - believed) * LEARNT_PER_ANSWER
    return known
