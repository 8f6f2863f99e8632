"""How the offline researcher plays assessment: a number or a word of a fact becomes a gap that the learner fills."""

import re
from typing import Any

from chiron_workers.evidence.figures.figures import read_figures
from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.researcher import Turn

LIST, WRITE, HAND_IN = "list_facts", "write_question", "hand_in_questions"
QUESTIONS_MAX = 5
WORD_CHARS_MIN = 5
GAP = "____"
WHAT_IT_IS = (
    "These questions were made by Chiron's offline researcher, a program without a language model: each is a stored fact with "
    "a gap."
)
NO_FACTS = "There is no fact to ask about, so there are no questions."
NO_QUESTIONS = "No question could be made of these facts."
_WORD = re.compile(rf"[^\W\d_][\w'-]{{{WORD_CHARS_MIN - 1},}}")


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
    if WRITE in turn.tools and not drafts:
        new_questions = [draft for fact in facts if (draft := _question(fact))][:QUESTIONS_MAX]
        if calls := [(WRITE, draft) for draft in new_questions[: turn.calls_max]]:
            return reply(turn.key, turn.number, f"Writing {len(calls)} questions.", calls)
    if all(call.is_failed for call in drafts):
        return reply(turn.key, turn.number, NO_QUESTIONS)
    if HAND_IN in turn.tools and not conversation.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the questions.", [(HAND_IN, {})])
    return reply(turn.key, turn.number, WHAT_IT_IS)


def _question(fact: dict[str, Any]) -> dict[str, Any] | None:
    """A question that asks for a number of a fact, else for its longest word; None where neither can be asked for."""
    statement = " ".join(str(fact["statement"]).split())
    if fact.get("contradicted_by"):
        return None
    key = next((key for key in _keys(statement) if _is_once(key, statement)), None)
    if key is None:
        return None
    return {
        "kind": "recall",
        "question": f"What belongs in the gap? {_pattern(key).sub(GAP, statement, count=1)}",
        "key": key,
        "statement": statement,
        "fact_ids": [fact["fact_id"]],
    }


def _keys(statement: str) -> list[str]:
    figures = read_figures(statement).all
    numbers = [statement[figure.start : figure.end] for figure in figures]
    return numbers + sorted(_WORD.findall(statement), key=len, reverse=True)


def _is_once(key: str, statement: str) -> bool:
    return len(_pattern(key).findall(statement)) == 1


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)
