"""How the offline researcher plays the judge: page by page, by rules alone, until nothing is left."""

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.composition import has_next_page
from chiron_workers.offline.researcher.researcher import Turn

MARK, HAND_IN = "mark_answers", "hand_in_marks"
WHAT_IT_IS = (
    "Marked by Chiron's rules alone: no model is configured that could be asked. {right} answers are right, {wrong} wrong, and "
    "{doubtful} are left to the learner."
)
NOT_MARKED = "The marking did not come to its end."


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet."""
    conversation = turn.conversation
    if MARK in turn.tools and has_next_page(conversation.calls_of(MARK)):
        return reply(turn.key, turn.number, "Marking answers.", [(MARK, {})])
    if HAND_IN in turn.tools and not conversation.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the marks.", [(HAND_IN, {})])
    results = [call.result for call in conversation.calls_of(HAND_IN) if isinstance(call.result, dict)]
    words = WHAT_IT_IS.format_map(results[-1]) if results else NOT_MARKED
    return reply(turn.key, turn.number, words)
