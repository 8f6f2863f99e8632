"""How the offline researcher teaches: the facts' own words, topic by topic, an example last."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.conversation import Call, Leg
from chiron_workers.offline.researcher.researcher import Turn

PLAN, LIST, WRITE, HAND_IN = "lesson_plan", "list_facts", "write_lesson", "hand_in_lesson"
PAGES_MAX = 5
TRIES_MAX = 3  # of one section
SECTIONS_MAX, SENTENCES_MAX, SUMMARY_SENTENCES, EXAMPLE_SENTENCES = 8, 10, 3, 5
CONTRADICTIONS_MAX = 6
TITLE_CHARS = 100
USUAL_LENGTH = 16  # of a lesson whose plan could not be read
WHAT_IT_IS = (
    "This lesson was arranged by Chiron's offline researcher, a program without a language model: every sentence is a stored "
    "fact in its own words."
)
NO_FACTS = "There is no fact to teach from, so there is no lesson."
CONTRADICTIONS_TITLE = "Where sources disagree"
EXAMPLE_TITLE = "Worked example"
_REFUSAL = re.compile(r"^Sentence (\d+):", re.MULTILINE)
_EXAMPLE = re.compile(
    r"\b(?:for example|for instance|e\.g\.|such as|example)|[`=]|\bif\b.+\bthen\b|\d", re.IGNORECASE
)

Fact = dict[str, Any]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Teaching:
    """How far the lesson is, read from the calls that were made for it."""

    leg: Leg

    @cached_property
    def plan(self) -> dict[str, Any]:
        """What is to be taught."""
        results = [call.result for call in self.leg.calls_of(PLAN) if isinstance(call.result, dict)]
        return results[-1] if results else {}

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
    def sections(self) -> list[Arguments]:
        """The arguments of each section, within the length of the plan; the summary last, as it is written last."""
        safe_facts = [fact for fact in self.facts.values() if not fact.get("contradicted_by")]
        disagreements = list(self._disagreements())[:CONTRADICTIONS_MAX]
        examples = [fact for fact in safe_facts if _EXAMPLE.search(str(fact["statement"]))][
            :EXAMPLE_SENTENCES
        ]
        ids = {fact["fact_id"] for fact in examples}
        explained_facts = [fact for fact in safe_facts if fact["fact_id"] not in ids] or safe_facts
        summary = [_sentence(fact) for fact in safe_facts[:SUMMARY_SENTENCES]] or disagreements[:1]
        room = int(self.plan.get("sentences_max", USUAL_LENGTH))
        room -= len(summary) + len(examples) + len(disagreements)
        by_topic: dict[str, list[Fact]] = {}
        for fact in explained_facts[: max(1, room)]:
            by_topic.setdefault(str(fact["topic_path"]), []).append(fact)
        parts = [
            (_title(topic), [_sentence(fact) for fact in facts[:SENTENCES_MAX]])
            for topic, facts in list(by_topic.items())[:SECTIONS_MAX]
        ]
        if disagreements:
            parts.append((CONTRADICTIONS_TITLE, disagreements))
        sections: list[Arguments] = [
            {"part": "explanation", "place": place, "title": title, "sentences": sentences}
            for place, (title, sentences) in enumerate(parts, start=1)
        ]
        if examples:
            sentences = [_sentence(fact) for fact in examples]
            sections.append({"part": "example", "title": EXAMPLE_TITLE, "sentences": sentences})
        return [*sections, {"part": "summary", "sentences": summary}] if parts else []

    @property
    def has_example(self) -> bool:
        """Whether a worked example was kept."""
        return any(
            call.arguments.get("part") == "example" and not call.is_failed
            for call in self.leg.calls_of(WRITE)
        )

    def _disagreements(self) -> Iterator[Arguments]:
        for fact_id, fact in self.facts.items():
            for other_id in fact.get("contradicted_by", []):
                opponent = self.facts.get(other_id)
                if opponent and (fact_id < other_id or fact_id not in opponent.get("contradicted_by", [])):
                    sides = (str(side["statement"]).rstrip(".") for side in (fact, opponent))
                    yield {
                        "text": f"Sources disagree: {' — against: '.join(sides)}.",
                        "facts": [fact_id, other_id],
                    }

    def outstanding(self) -> list[tuple[str, Arguments]]:
        """The sections still to be written; of those that were refused, without the sentences that cannot stand."""
        calls = []
        for section in self.sections:
            attempts = [call for call in self.leg.calls_of(WRITE) if _is_of(call, section)]
            if any(not call.is_failed for call in attempts) or len(attempts) >= TRIES_MAX:
                continue
            sentences = _without_refused(attempts[-1]) if attempts else section["sentences"]
            if sentences:
                calls.append((WRITE, section | {"sentences": sentences}))
        return calls


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read plan and facts, write the sections, hand in, say what it is."""
    lesson = Teaching(_whole(turn))
    if PLAN in turn.tools and not lesson.leg.calls_of(PLAN):
        return reply(turn.key, turn.number, "Reading what is to be taught.", [(PLAN, {})])
    if LIST in turn.tools and (offset := lesson.next_offset) is not None:
        return reply(turn.key, turn.number, "Reading the facts.", [(LIST, {"offset": offset})])
    if not lesson.facts:
        return reply(turn.key, turn.number, NO_FACTS)
    if WRITE in turn.tools and (calls := lesson.outstanding()[: turn.calls_max]):
        return reply(turn.key, turn.number, f"Writing {len(calls)} section{'s'[: len(calls) != 1]}.", calls)
    if HAND_IN in turn.tools and not lesson.leg.calls_of(HAND_IN):
        call = (HAND_IN, {"has_example": lesson.has_example})
        return reply(turn.key, turn.number, "Handing in the lesson.", [call])
    return reply(turn.key, turn.number, WHAT_IT_IS)


def _whole(turn: Turn) -> Leg:
    """All calls of the conversation, whatever was said between them."""
    legs = turn.conversation.legs
    return Leg(
        legs[0].questions, [call for leg in legs for call in leg.calls], sum(leg.replies for leg in legs)
    )


def _is_of(call: Call, section: Arguments) -> bool:
    return all(call.arguments.get(name) == section.get(name) for name in ("part", "place"))


def _without_refused(call: Call) -> list[Arguments]:
    numbers = {int(number) for number in _REFUSAL.findall(call.text)}
    sentences: Sequence[Arguments] = call.arguments.get("sentences") or []
    return [sentence for n, sentence in enumerate(sentences, start=1) if n not in numbers] if numbers else []


def _sentence(fact: Fact) -> Arguments:
    return {"text": str(fact["statement"]), "facts": [fact["fact_id"]]}


def _title(topic_path: str) -> str:
    steps = [step for step in topic_path.split("/") if step]
    return " › ".join(steps)[:TITLE_CHARS].rstrip(" .!?…") or "Findings"
