"""How the offline researcher plays the writer: the facts' own words, arranged by topic, the surest first."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.conversation import Call, Leg
from chiron_workers.offline.researcher.researcher import Turn

LIST, WRITE, HAND_IN = "list_facts", "write_section", "hand_in_report"
PAGES_MAX = 5
TRIES_MAX = 3  # of one section
SECTIONS_MAX, SENTENCES_MAX, SUMMARY_SENTENCES = 12, 12, 4
CONTRADICTIONS_MAX = 10
TITLE_CHARS = 100
WHAT_IT_IS = (
    "This report was arranged by Chiron's offline researcher, a program without a language model: every sentence is a stored "
    "fact in its own words."
)
NO_FACTS = "There is no fact to write from, so there is no report."
CONTRADICTIONS_TITLE = "Where sources disagree"
_REFUSAL = re.compile(r"^Sentence (\d+):", re.MULTILINE)

Fact = dict[str, Any]
CitedSentence = dict[str, Any]


@dataclass(frozen=True)
class Writing:
    """How far the report is, read from the calls that were made for it."""

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
    def next_offset(self) -> int | None:
        """Where the next page begins; None where all that is to be read was."""
        if not self.pages:
            return 0 if not self.leg.calls_of(LIST) else None
        offset: int | None = self.pages[-1].get("next_offset")
        return offset if len(self.pages) < PAGES_MAX else None

    @cached_property
    def sections(self) -> list[tuple[str, list[CitedSentence]]]:
        """Title and sentences of each section, the summary first."""
        safe_facts = [fact for fact in self.facts.values() if not fact.get("contradicted_by")]
        by_topic: dict[str, list[Fact]] = {}
        for fact in safe_facts:
            by_topic.setdefault(str(fact["topic_path"]), []).append(fact)
        sections = [
            (_title(topic), [_sentence(fact) for fact in facts[:SENTENCES_MAX]])
            for topic, facts in list(by_topic.items())[:SECTIONS_MAX]
        ]
        if disagreements := list(self._disagreements())[:CONTRADICTIONS_MAX]:
            sections.append((CONTRADICTIONS_TITLE, disagreements))
        first_facts = [_sentence(fact) for fact in _one_of_each(list(by_topic.values()))[:SUMMARY_SENTENCES]]
        return [("", first_facts or sections[-1][1][:1]), *sections] if sections else []

    def _disagreements(self) -> Iterator[CitedSentence]:
        for fact_id, fact in self.facts.items():
            for other_id in fact.get("contradicted_by", []):
                opponent = self.facts.get(other_id)
                if opponent and (fact_id < other_id or fact_id not in opponent.get("contradicted_by", [])):
                    sides = (str(side["statement"]).rstrip(".") for side in (fact, opponent))
                    yield {
                        "text": f"Sources disagree: {' — against: '.join(sides)}.",
                        "facts": [fact_id, other_id],
                    }

    def outstanding(self) -> list[tuple[str, dict[str, Any]]]:
        """The sections still to be written; of those that were refused, without the sentences that cannot stand."""
        calls = []
        for place, (title, sentences) in enumerate(self.sections):
            attempts = [call for call in self.leg.calls_of(WRITE) if call.arguments.get("place") == place]
            if any(not call.is_failed for call in attempts) or len(attempts) >= TRIES_MAX:
                continue
            sentences_left = _without_refused(attempts[-1]) if attempts else sentences
            if sentences_left:
                calls.append((WRITE, {"place": place, "title": title, "sentences": sentences_left}))
        return calls


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read the facts, write the sections, hand in, say what it is."""
    report = Writing(_whole(turn))
    if LIST in turn.tools and (offset := report.next_offset) is not None:
        return reply(turn.key, turn.number, "Reading the facts.", [(LIST, {"offset": offset})])
    if not report.facts:
        return reply(turn.key, turn.number, NO_FACTS)
    if WRITE in turn.tools and (calls := report.outstanding()[: turn.calls_max]):
        return reply(turn.key, turn.number, f"Writing {len(calls)} section{'s'[: len(calls) != 1]}.", calls)
    if HAND_IN in turn.tools and not report.leg.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the report.", [(HAND_IN, {})])
    return reply(turn.key, turn.number, WHAT_IT_IS)


def _whole(turn: Turn) -> Leg:
    """All calls of the conversation, whatever was said between them."""
    legs = turn.conversation.legs
    return Leg(
        legs[0].questions, [call for leg in legs for call in leg.calls], sum(leg.replies for leg in legs)
    )


def _without_refused(call: Call) -> list[CitedSentence]:
    numbers = {int(number) for number in _REFUSAL.findall(call.text)}
    sentences: Sequence[CitedSentence] = call.arguments.get("sentences") or []
    return [sentence for n, sentence in enumerate(sentences, start=1) if n not in numbers] if numbers else []


def _one_of_each(topics: Sequence[Sequence[Fact]]) -> list[Fact]:
    """The first fact of each topic, then the second ones."""
    rounds = range(max(map(len, topics), default=0))
    return [facts[n] for n in rounds for facts in topics if n < len(facts)]


def _sentence(fact: Fact) -> CitedSentence:
    return {"text": str(fact["statement"]), "facts": [fact["fact_id"]]}


def _title(topic_path: str) -> str:
    steps = [step for step in topic_path.split("/") if step]
    return " › ".join(steps)[:TITLE_CHARS].rstrip(" .!?…") or "Findings"
