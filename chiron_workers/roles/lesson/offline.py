"""How the offline researcher teaches: the facts' own words, topic by topic, an example last."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.composition import (
    LIST,
    Composition,
    Fact,
    by_topic,
    clear_facts,
    one_of_each,
    plain_first,
    sentence_of,
    title_of,
    whole_leg,
    without_refused,
)
from chiron_workers.offline.researcher.conversation import Call
from chiron_workers.offline.researcher.researcher import Turn

PLAN, WRITE, HAND_IN = "lesson_plan", "write_lesson", "hand_in_lesson"
TRIES_MAX = 3  # of one section
SECTIONS_MAX, SENTENCES_MAX, SUMMARY_SENTENCES, EXAMPLE_SENTENCES = 8, 10, 3, 5
SUMMARY_SHARE = 3  # a sentence of the summary for so many facts
CONTRADICTIONS_MAX = 6
USUAL_LENGTH = 16  # of a lesson whose plan could not be read
WHAT_IT_IS = (
    "This lesson was arranged by Chiron's offline researcher, a program without a language model: every sentence is a stored "
    "fact in its own words."
)
NO_FACTS = "There is no fact to teach from, so there is no lesson."
CONTRADICTIONS_TITLE = "Where sources disagree"
EXAMPLE_TITLE = "Worked example"
# What a case looks like, the clearest first.
_EXAMPLES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:for example|for instance|e\.g\.|example)\b",
        r"\bsuch as\b|[`=]|\bif\b.+\bthen\b|\w\(\)",
        r"(?<![\w.])\d",
    )
)

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Teaching(Composition):
    """How far the lesson is, read from the calls that were made for it."""

    @cached_property
    def plan(self) -> dict[str, Any]:
        """What is to be taught."""
        results = [call.result for call in self.leg.calls_of(PLAN) if isinstance(call.result, dict)]
        return results[-1] if results else {}

    @cached_property
    def sections(self) -> list[Arguments]:
        """The arguments of each section, within the length of the plan; the summary last, as it is written last."""
        safe_facts = clear_facts(self.safe_facts)
        disagreements = list(self.disagreements())[:CONTRADICTIONS_MAX]
        examples = _examples(safe_facts)
        ids = {fact["fact_id"] for fact in examples}
        explained_facts = [fact for fact in safe_facts if fact["fact_id"] not in ids] or safe_facts
        topics = {topic: plain_first(facts) for topic, facts in by_topic(explained_facts).items()}
        length = min(SUMMARY_SENTENCES, max(1, len(explained_facts) // SUMMARY_SHARE))
        summary_facts = one_of_each(list(topics.values()))[:length]
        summary = [sentence_of(fact) for fact in summary_facts] or disagreements[:1]
        room = int(self.plan.get("sentences_max", USUAL_LENGTH))
        room -= len(summary) + len(examples) + len(disagreements)
        parts = [
            (title_of(topic), [sentence_of(fact) for fact in facts])
            for topic, facts in _within(topics, max(1, room)).items()
        ]
        if disagreements:
            parts.append((CONTRADICTIONS_TITLE, disagreements))
        sections: list[Arguments] = [
            {"part": "explanation", "place": place, "title": title, "sentences": sentences}
            for place, (title, sentences) in enumerate(parts, start=1)
        ]
        if examples:
            sentences = [sentence_of(fact) for fact in examples]
            sections.append({"part": "example", "title": EXAMPLE_TITLE, "sentences": sentences})
        return [*sections, {"part": "summary", "sentences": summary}] if parts else []

    @property
    def has_example(self) -> bool:
        """Whether a worked example was kept."""
        return any(
            call.arguments.get("part") == "example" and not call.is_failed
            for call in self.leg.calls_of(WRITE)
        )

    def outstanding(self) -> list[tuple[str, Arguments]]:
        """The sections still to be written; of those that were refused, without the sentences that cannot stand."""
        calls = []
        for section in self.sections:
            attempts = [call for call in self.leg.calls_of(WRITE) if _is_of(call, section)]
            if any(not call.is_failed for call in attempts) or len(attempts) >= TRIES_MAX:
                continue
            sentences = without_refused(attempts[-1]) if attempts else section["sentences"]
            if sentences:
                calls.append((WRITE, section | {"sentences": sentences}))
        return calls


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read plan and facts, write the sections, hand in, say what it is."""
    lesson = Teaching(whole_leg(turn))
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


def _examples(facts: Sequence[Fact]) -> list[Fact]:
    """The facts that tell a case, the clearest first; half of the facts at most."""
    examples = [fact for sign in _EXAMPLES for fact in facts if sign.search(str(fact["statement"]))]
    distinct = list({fact["fact_id"]: fact for fact in examples}.values())
    return distinct[: min(EXAMPLE_SENTENCES, max(1, len(facts) // 2))]


def _within(topics: Mapping[str, Sequence[Fact]], room: int) -> dict[str, list[Fact]]:
    """The facts that there is room for, as many of each topic as of the others, in their order."""
    chosen_topics = {topic: facts[:SENTENCES_MAX] for topic, facts in list(topics.items())[:SECTIONS_MAX]}
    ids = {fact["fact_id"] for fact in one_of_each(list(chosen_topics.values()))[:room]}
    room_topics = {
        topic: [fact for fact in facts if fact["fact_id"] in ids] for topic, facts in chosen_topics.items()
    }
    return {topic: facts for topic, facts in room_topics.items() if facts}


def _is_of(call: Call, section: Arguments) -> bool:
    return all(call.arguments.get(name) == section.get(name) for name in ("part", "place"))
