"""What the offline researcher writes from stored facts: the facts that were read, and the sentences that can stand."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.researcher.conversation import Call, Leg
from chiron_workers.offline.researcher.researcher import Turn
from chiron_workers.offline.researcher.sentences import DEPENDENT_START
from chiron_workers.offline.researcher.words import terms

LIST = "list_facts"
PAGES_MAX = 5
FAILURES_MAX = 3
TITLE_CHARS = 100
CLEAR_MIN = 3
# What a thing is comes before what holds of it in a case.
_DEFINITION = re.compile(
    r"^(?:[^\s,;]+ ){1,7}?(?:is|are|means?|refers? to|consists? of|provides?|describes?|defines?|contains?|lets?|allows?)\b"
)
_CASE = re.compile(r"^(?:If|When|Whenever|Once|Where|Unless|Although|While|For)\b|\b(?:if|unless)\b")
_OPENING_CHARS = 60
_REFUSAL = re.compile(r"^Sentence (\d+):", re.MULTILINE)

Fact = dict[str, Any]
CitedSentence = dict[str, Any]


@dataclass(frozen=True)
class Composition:
    """How far a text is that is written from facts, read from the calls that were made for it."""

    leg: Leg

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        """The pages of facts that were read."""
        return [call.result for call in self.leg.calls_of(LIST) if isinstance(call.result, dict)]

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """The facts by id, the surest first."""
        return {fact["fact_id"]: fact for page in self.pages for fact in page.get("facts", [])}

    @property
    def safe_facts(self) -> list[Fact]:
        """The facts that nothing contradicts."""
        return [fact for fact in self.facts.values() if not fact.get("contradicted_by")]

    @property
    def next_offset(self) -> int | None:
        """Where the next page begins; None where all that is to be read was."""
        if not self.pages:
            return 0 if not self.leg.calls_of(LIST) else None
        offset: int | None = self.pages[-1].get("next_offset")
        return offset if len(self.pages) < PAGES_MAX else None

    def disagreements(self) -> Iterator[CitedSentence]:
        """A sentence for each pair of facts that contradict each other."""
        for fact_id, fact in self.facts.items():
            for other_id in fact.get("contradicted_by", []):
                opponent = self.facts.get(other_id)
                if opponent and (fact_id < other_id or fact_id not in opponent.get("contradicted_by", [])):
                    sides = (str(side["statement"]).rstrip(".") for side in (fact, opponent))
                    yield {
                        "text": f"Sources disagree: {' — against: '.join(sides)}.",
                        "facts": [fact_id, other_id],
                    }


def whole_leg(turn: Turn) -> Leg:
    """All calls of the conversation, whatever was said between them."""
    legs = turn.conversation.legs
    return Leg(
        legs[0].questions, [call for leg in legs for call in leg.calls], sum(leg.replies for leg in legs)
    )


def by_topic(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """The facts by topic path, in their order."""
    topics: dict[str, list[Fact]] = {}
    for fact in facts:
        topics.setdefault(str(fact["topic_path"]), []).append(fact)
    return topics


def plain_first(facts: Sequence[Fact]) -> list[Fact]:
    """Facts in the order of a lesson: what the topic is, what is said of it, then what holds in single cases."""
    return sorted(facts, key=_specialty)


def clear_facts(facts: Sequence[Fact]) -> list[Fact]:
    """The facts that are understood without their neighbours; all where they are few."""
    clear = [fact for fact in facts if not DEPENDENT_START.match(str(fact["statement"]))]
    return clear if len(clear) >= CLEAR_MIN else list(facts)


def _specialty(fact: Fact) -> tuple[bool, int]:
    statement = str(fact["statement"])
    topic_terms = {*terms(str(fact["topic_path"]))}
    is_on_topic = bool(topic_terms & {*terms(statement[:_OPENING_CHARS])})
    is_definition = is_on_topic and bool(_DEFINITION.match(statement))
    return bool(_CASE.search(statement)), 0 if is_definition else 1 if is_on_topic else 2


def one_of_each(topics: Sequence[Sequence[Fact]]) -> list[Fact]:
    """The first fact of each topic, then the second ones."""
    rounds = range(max(map(len, topics), default=0))
    return [facts[n] for n in rounds for facts in topics if n < len(facts)]


def sentence_of(fact: Fact) -> CitedSentence:
    """A fact in its own words."""
    return {"text": str(fact["statement"]), "facts": [fact["fact_id"]]}


def title_of(topic_path: str) -> str:
    """The heading of a section on a topic."""
    steps = [step for step in topic_path.split("/") if step]
    return " › ".join(steps)[:TITLE_CHARS].rstrip(" .!?…") or "Findings"


def without_refused(call: Call) -> list[CitedSentence]:
    """The sentences of a refused section without those that cannot stand; none where the refusal names none."""
    numbers = {int(number) for number in _REFUSAL.findall(call.text)}
    sentences: Sequence[CitedSentence] = call.arguments.get("sentences") or []
    return [sentence for n, sentence in enumerate(sentences, start=1) if n not in numbers] if numbers else []


def has_next_page(pages: Sequence[Call]) -> bool:
    """Whether a tool that works page by page is to be called again: it says how many are `left`, or has failed seldom."""
    if not pages:
        return True
    result = pages[-1].result
    if pages[-1].is_failed or not isinstance(result, dict):
        return sum(page.is_failed for page in pages) < FAILURES_MAX
    return bool(result.get("left"))
