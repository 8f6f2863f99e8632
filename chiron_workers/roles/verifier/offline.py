"""How the offline researcher plays the verifier: page by page, until nothing is left."""

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.composition import has_next_page
from chiron_workers.offline.researcher.conversation import Conversation
from chiron_workers.offline.researcher.researcher import Turn

CHECK, HAND_IN = "check_facts", "hand_in_check"
WHAT_IT_IS = (
    "No model is configured that could be asked. Rules only doubt: they doubt {doubted} facts, and {unchecked} stay unchecked. "
    "With a model, another check asks about all of them."
)
NOT_CHECKED = "The check did not come to its end."


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet."""
    conversation = turn.conversation
    if CHECK in turn.tools and has_next_page(conversation.calls_of(CHECK)):
        return reply(turn.key, turn.number, "Checking facts.", [(CHECK, {})])
    if HAND_IN in turn.tools and not conversation.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the check.", [(HAND_IN, {})])
    return reply(turn.key, turn.number, _words(conversation))


def _words(conversation: Conversation) -> str:
    results = [call.result for call in conversation.calls_of(HAND_IN) if isinstance(call.result, dict)]
    if not results:
        return NOT_CHECKED
    counts = results[-1]
    doubted = sum(int(counts.get(verdict, 0)) for verdict in ("partly", "contradicted", "silent"))
    return WHAT_IT_IS.format(doubted=doubted, unchecked=counts.get("unchecked", 0))
