"""How the offline researcher plays assessment: what facts allow to ask, asked in their own words."""

from collections import Counter
from collections.abc import Sequence

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.conversation import Call
from chiron_workers.offline.researcher.questions import new_questions
from chiron_workers.offline.researcher.researcher import Turn

LIST, WRITE, HAND_IN = "list_facts", "write_question", "hand_in_questions"
WHAT_IT_IS = (
    "These questions were made by Chiron's offline researcher, a program without a language model: each is a stored fact with "
    "a gap (recall: {recall}), a case that a fact decides (application: {application}), or a word that two facts share "
    "(transfer: {transfer})."
)
NO_FACTS = "There is no fact to ask about, so there are no questions."
NO_QUESTIONS = "No question could be made of these facts."


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read the facts, write the questions, hand in, say what they are."""
    conversation = turn.conversation
    pages = conversation.calls_of(LIST)
    if LIST in turn.tools and not pages:
        return reply(turn.key, turn.number, "Reading the facts.", [(LIST, {})])
    facts = [fact for page in pages if isinstance(page.result, dict) for fact in page.result.get("facts", [])]
    if not facts:
        return reply(turn.key, turn.number, NO_FACTS)
    drafts = conversation.calls_of(WRITE)
    texts = {call.arguments.get("question") for call in drafts}
    questions = [question for question in new_questions(facts) if question["question"] not in texts]
    if WRITE in turn.tools and questions:
        calls = [(WRITE, question) for question in questions[: turn.calls_max]]
        words = f"Writing {len(calls)} question{'s'[: len(calls) != 1]}."
        return reply(turn.key, turn.number, words, calls)
    if all(call.is_failed for call in drafts):
        return reply(turn.key, turn.number, NO_QUESTIONS)
    if HAND_IN in turn.tools and not conversation.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the questions.", [(HAND_IN, {})])
    return reply(turn.key, turn.number, _words(drafts))


def _words(drafts: Sequence[Call]) -> str:
    kinds = Counter(str(call.arguments.get("kind")) for call in drafts if not call.is_failed)
    return WHAT_IT_IS.format_map({kind: kinds[kind] for kind in ("recall", "application", "transfer")})
