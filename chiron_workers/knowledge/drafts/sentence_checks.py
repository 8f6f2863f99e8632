"""Holding a section to its facts: rules refuse or doubt, and a model that sees nothing else judges what is left."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import combinations, islice

from chiron_workers.evidence.standing_alone import open_reference
from chiron_workers.evidence.statements.support import UNCHECKED, Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.cited_statements import (
    CitedFinding,
    CitedStatement,
    Kind,
    judge_statements,
    names_no_pair,
)
from chiron_workers.knowledge.drafts.fact_texts import with_windows
from chiron_workers.knowledge.drafts.reading import UNCHECKED_MARK, Sentence
from chiron_workers.knowledge.drafts.sentence_rules import (
    COMPARED_FACTS_MAX,
    DOUBT_CHARS_MAX,
    Clash,
    clashing_pairs,
    contradicts_itself,
    heading_doubts,
    is_one_sentence,
    is_repeated,
    refuse_sentence,
    sentence_doubts,
    stands_side_by_side,
    tells_both_sides,
    unshown_figures,
)
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.states import Verdict

IN_ITS_WORDS = Finding(Verdict.UNCHECKED, f"It stands {UNCHECKED_MARK}.")
# What a run is told of a sentence that its facts do not support in full.
REFUSALS = {
    Verdict.PARTLY: "Its facts support it in part: {reason} Say no more than they say.",
    Verdict.CONTRADICTED: "Its facts contradict it: {reason} Say what they say, or drop it.",
    Verdict.SILENT: "Its facts do not speak of it: {reason} Name the facts that do, or drop it.",
    Verdict.UNCHECKED: "Nobody could say whether its facts support it. {reason} Put it in the very words of one of its facts. "
    "Name that fact alone.",
}
DOUBTS_MAX = 10  # of the facts of a section
IDLE = "Fact {fact_id} says nothing of it; leave it out, or say what it says."
IDLE_UNASKED = "Fact {fact_id} has other words, and nobody could say what it has to do with it; leave it out."
CLASH_REFUSAL = (
    "Fact {fact_id} contradicts fact {other_id}: {reason} Tell both in one sentence that names both and says that they "
    "contradict each other, or neither."
)
VAGUE_CLASH_REFUSAL = (
    "Facts of this section contradict each other: {reason} Tell both sides in one sentence of a section of its own, or leave "
    "one of them out."
)
HEADING_REFUSAL = (
    "title: claims more than a topic: {reason} Name what the section is about, and claim nothing."
)


@dataclass(frozen=True, slots=True)
class SectionOutcome:
    """For each sentence, and for the heading, the finding that it stands, or why it is refused."""

    sentences: list[Finding | str]
    heading: Finding | str = UNCHECKED


@dataclass(frozen=True, slots=True)
class _Section:
    """A section while it is judged: its open sentences by their places, and what the rules found in its facts."""

    statements: Mapping[int, CitedStatement]
    heading: CitedStatement | None
    facts: CitedStatement | None
    clashes: Mapping[frozenset[str], Clash] = field(default_factory=dict)

    @property
    def all(self) -> list[CitedStatement]:
        """What is judged, in one order."""
        return [*self.statements.values(), *filter(None, [self.heading, self.facts])]


async def check_sentences(
    sentences: Sequence[Sentence], facts: Mapping[str, CitableFact], verdicts: Verdicts
) -> list[Finding | str]:
    """As `check_section`, of sentences without a heading."""
    return (await check_section("", sentences, facts, verdicts)).sentences


async def check_section(
    title: str,
    sentences: Sequence[Sentence],
    facts: Mapping[str, CitableFact],
    verdicts: Verdicts,
    *,
    today: date | None = None,
) -> SectionOutcome:
    """Whether each sentence of a section and its heading stand on their facts.

    All that the rules do not refuse is one question to the model: each sentence, whether each of its facts says a part of it,
    whether the heading claims more than a topic, and whether the facts contradict each other. Nothing but `supported` stands.
    Without a model to ask, a sentence in its fact's own words is kept as `unchecked`, and so is a heading without a verb.

    Args:
        title: The heading; empty where there is none to judge.
        today: On which a fact may have expired; None: the day of this clock.

    Raises:
        LeaseLost: The run is no longer ours.
    """
    day = today or datetime.now(UTC).date()
    refusals = {
        place: refusal
        for place, sentence in enumerate(sentences)
        if (refusal := refuse_sentence(sentence, facts, today=day))
    }
    seen_facts = await with_windows(verdicts.session, facts)
    section = await asyncio.to_thread(_section, title, sentences, seen_facts, refusals)
    findings = await judge_statements(section.all, verdicts)
    return await asyncio.to_thread(_outcome, section, findings, refusals, len(sentences))


def _section(
    title: str, sentences: Sequence[Sentence], facts: Mapping[str, CitableFact], refusals: dict[int, str]
) -> _Section:
    """What is to be judged of a section; sentences that the rules refuse are added to the refusals."""
    statements = {}
    for place, sentence in enumerate(sentences):
        if place in refusals:
            continue
        cited_facts = tuple(facts[fact_id] for fact_id in sentence.fact_ids)
        if refusal := _refuse_form(sentence.text, cited_facts):
            refusals[place] = refusal
            continue
        before = sentences[place - 1].text if place and open_reference(sentence.text) else ""
        doubts = sentence_doubts(sentence.text, cited_facts)
        statements[place] = CitedStatement(Kind.SENTENCE, sentence.text, cited_facts, before, doubts)
    facts_by_id = {fact.fact_id: fact for statement in statements.values() for fact in statement.facts}
    section_facts = sorted(facts_by_id.values(), key=lambda fact: (fact.content, fact.fact_id))[
        :COMPARED_FACTS_MAX
    ]
    clashes = clashing_pairs(section_facts)
    heading = (
        CitedStatement(Kind.HEADING, title, tuple(section_facts), doubts=heading_doubts(title))
        if title and section_facts
        else None
    )
    return _Section(statements, heading, _side_by_side(section_facts, clashes), clashes)


def _refuse_form(text: str, facts: Sequence[CitableFact]) -> str:
    """Why a sentence is refused without asking a model; empty if it is not."""
    if is_repeated(text, facts) or tells_both_sides(text, facts) or stands_side_by_side(text, facts):
        return ""
    if not is_one_sentence(text):
        return "It is more than one sentence. Give each on its own, with the facts that it rests on."
    if figures := unshown_figures(text, facts):
        return f"Its facts do not say {', '.join(figures)}. Say what they say, or name the fact that says so."
    return ""


def _side_by_side(
    facts: Sequence[CitableFact], clashes: Mapping[frozenset[str], Clash]
) -> CitedStatement | None:
    """The question whether facts can be true together; None where there are no two that are not known to disagree."""
    if not any(second.fact_id not in first.opponents for first, second in combinations(facts, 2)):
        return None
    contents = {fact.fact_id: fact.content[:DOUBT_CHARS_MAX] for fact in facts}
    doubts = tuple(
        f"{clash.reason} {' — against: '.join(sorted(contents[fact_id] for fact_id in pair))}"
        for pair, clash in islice(clashes.items(), DOUBTS_MAX)
    )
    return CitedStatement(Kind.FACTS, "These facts can all be true together.", tuple(facts), doubts=doubts)


def _outcome(
    section: _Section, findings: Sequence[CitedFinding], refusals: Mapping[int, str], count: int
) -> SectionOutcome:
    by_place = dict(zip(section.statements, findings, strict=False))
    tail = list(findings[len(section.statements) :])
    heading = _heading_outcome(section.heading, tail.pop(0)) if section.heading else UNCHECKED
    clash_answer = tail.pop(0) if section.facts else None
    clashes = _clashes(section, clash_answer) if clash_answer else {}
    vague_clash = _vague_clash_refusal(section, clash_answer) if clash_answer else ""
    outcomes: list[Finding | str] = []
    for place in range(count):
        if place in refusals:
            outcomes.append(refusals[place])
            continue
        statement = section.statements[place]
        outcomes.append(
            _clash_refusal(statement, clashes)
            or vague_clash
            or _sentence_outcome(statement, by_place[place], clashes)
        )
    return SectionOutcome(outcomes, heading)


def _sentence_outcome(
    statement: CitedStatement, answer: CitedFinding, clashes: Mapping[frozenset[str], str]
) -> Finding | str:
    finding = answer.finding
    match finding.verdict:
        case Verdict.SUPPORTED if answer.named_facts:
            return idle_refusal(answer)
        case Verdict.SUPPORTED:
            return finding
        case Verdict.UNCHECKED if _is_in_its_words(statement, clashes):
            return IN_ITS_WORDS
        case Verdict.UNCHECKED if strangers := _facts_in_other_words(statement):
            return " ".join(IDLE_UNASKED.format(fact_id=fact.fact_id) for fact in strangers)
    return REFUSALS[finding.verdict].format(reason=_stopped(finding.reason))


def idle_refusal(answer: CitedFinding) -> str:
    """Why a statement is refused though it is supported: it cites facts that say nothing of it."""
    return " ".join(IDLE.format(fact_id=fact_id) for fact_id in answer.named_facts)


def _is_in_its_words(statement: CitedStatement, clashes: Mapping[frozenset[str], str]) -> bool:
    """Whether a sentence has the words of its facts alone: of each of them, side by side, or of both sides of a contradiction."""
    ids = {fact.fact_id for fact in statement.facts}
    if contradicts_itself(statement.facts) or any(pair <= ids for pair in clashes):
        return tells_both_sides(statement.text, statement.facts)
    return is_repeated(statement.text, statement.facts) or stands_side_by_side(
        statement.text, statement.facts
    )


def _facts_in_other_words(statement: CitedStatement) -> list[CitableFact]:
    """The facts beside those whose words a sentence has; none where it has those of no fact."""
    strangers = [fact for fact in statement.facts if not is_repeated(statement.text, [fact])]
    return strangers if len(strangers) < len(statement.facts) else []


def _heading_outcome(heading: CitedStatement, answer: CitedFinding) -> Finding | str:
    finding = answer.finding
    if finding.verdict is Verdict.SUPPORTED:
        return finding
    if finding.verdict is not Verdict.UNCHECKED:
        return HEADING_REFUSAL.format(reason=_stopped(finding.reason))
    return HEADING_REFUSAL.format(reason=" ".join(heading.doubts)) if heading.doubts else UNCHECKED


def _clashes(section: _Section, answer: CitedFinding) -> Mapping[frozenset[str], str]:
    """The facts that contradict each other, two by two, each pair with the reason: by the model, or by the rules unasked."""
    if answer.finding.verdict is Verdict.UNCHECKED:
        return {pair: clash.reason for pair, clash in section.clashes.items() if clash.is_plain}
    if answer.finding.verdict is not Verdict.CONTRADICTED or section.facts is None:
        return {}
    known_pairs = {
        frozenset((fact.fact_id, opponent)) for fact in section.facts.facts for opponent in fact.opponents
    }
    pairs = answer.pairs or _sole_pair(section.facts.facts)
    return {pair: _stopped(answer.finding.reason) for pair in pairs if pair not in known_pairs}


def _vague_clash_refusal(section: _Section, answer: CitedFinding) -> str:
    """Why a whole section is refused: the model insists that its facts contradict each other, and names none; else empty."""
    is_vague = section.facts is not None and names_no_pair(section.facts, answer)
    return VAGUE_CLASH_REFUSAL.format(reason=_stopped(answer.finding.reason)) if is_vague else ""


def _sole_pair(facts: Sequence[CitableFact]) -> list[frozenset[str]]:
    """The pair of two facts, whose numbers need not be named."""
    return [frozenset((first.fact_id, second.fact_id)) for first, second in combinations(facts, 2)][
        : len(facts) == 2
    ]


def _clash_refusal(statement: CitedStatement, clashes: Mapping[frozenset[str], str]) -> str:
    """Why a sentence is refused that rests on one of two facts which contradict each other; empty where it is not."""
    ids = {fact.fact_id for fact in statement.facts}
    for pair, reason in clashes.items():
        if len(pair & ids) == 1:
            [fact_id], [other_id] = pair & ids, pair - ids
            return CLASH_REFUSAL.format(fact_id=fact_id, other_id=other_id, reason=_stopped(reason))
    return ""


def _stopped(reason: str) -> str:
    return reason if reason.endswith(".") else f"{reason}."
