"""How the offline researcher plays the writer: the facts' own words, arranged by topic, the surest first."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.composition import (
    LIST,
    CitedSentence,
    Composition,
    by_topic,
    one_of_each,
    sentence_of,
    title_of,
    whole_leg,
    without_refused,
)
from chiron_workers.offline.researcher.researcher import Turn

WRITE, HAND_IN = "write_section", "hand_in_report"
TRIES_MAX = 3  # of one section
SECTIONS_MAX, SENTENCES_MAX, SUMMARY_SENTENCES = 12, 12, 4
CONTRADICTIONS_MAX = 10
WHAT_IT_IS = (
    "This report was arranged by Chiron's offline researcher, a program without a language model: every sentence is a stored "
    "fact in its own words."
)
NO_FACTS = "There is no fact to write from, so there is no report."
CONTRADICTIONS_TITLE = "Where sources disagree"


@dataclass(frozen=True)
class Writing(Composition):
    """How far the report is, read from the calls that were made for it."""

    @cached_property
    def sections(self) -> list[tuple[str, list[CitedSentence]]]:
        """Title and sentences of each section, the summary first."""
        topics = by_topic(self.safe_facts)
        sections = [
            (title_of(topic), [sentence_of(fact) for fact in facts[:SENTENCES_MAX]])
            for topic, facts in list(topics.items())[:SECTIONS_MAX]
        ]
        if disagreements := list(self.disagreements())[:CONTRADICTIONS_MAX]:
            sections.append((CONTRADICTIONS_TITLE, disagreements))
        first_facts = [sentence_of(fact) for fact in one_of_each(list(topics.values()))[:SUMMARY_SENTENCES]]
        return [("", first_facts or sections[-1][1][:1]), *sections] if sections else []

    def outstanding(self) -> list[tuple[str, dict[str, Any]]]:
        """The sections still to be written; of those that were refused, without the sentences that cannot stand."""
        calls = []
        for place, (title, sentences) in enumerate(self.sections):
            attempts = [call for call in self.leg.calls_of(WRITE) if call.arguments.get("place") == place]
            if any(not call.is_failed for call in attempts) or len(attempts) >= TRIES_MAX:
                continue
            sentences_left = without_refused(attempts[-1]) if attempts else sentences
            if sentences_left:
                calls.append((WRITE, {"place": place, "title": title, "sentences": sentences_left}))
        return calls


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read the facts, write the sections, hand in, say what it is."""
    report = Writing(whole_leg(turn))
    if LIST in turn.tools and (offset := report.next_offset) is not None:
        return reply(turn.key, turn.number, "Reading the facts.", [(LIST, {"offset": offset})])
    if not report.facts:
        return reply(turn.key, turn.number, NO_FACTS)
    if WRITE in turn.tools and (calls := report.outstanding()[: turn.calls_max]):
        return reply(turn.key, turn.number, f"Writing {len(calls)} section{'s'[: len(calls) != 1]}.", calls)
    if HAND_IN in turn.tools and not report.leg.calls_of(HAND_IN):
        return reply(turn.key, turn.number, "Handing in the report.", [(HAND_IN, {})])
    return reply(turn.key, turn.number, WHAT_IT_IS)
