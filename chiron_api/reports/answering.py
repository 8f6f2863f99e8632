"""The written answer and the answers of the runs, as parts of a report."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from chiron_api.reports.answer import (
    Reference,
    RunAnswer,
    SaidSentence,
    WrittenAnswer,
    WrittenSection,
    WrittenSentence,
)
from chiron_api.reports.arranging import Arrangement
from chiron_api.reports.report import Finding, RunLine, SubjectPart
from chiron_workers.db.connect import Pool
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.drafts.expiry import is_expired, states_time
from chiron_workers.knowledge.drafts.reading import DraftSentence, latest_draft
from chiron_workers.knowledge.report_rows import Target, address
from chiron_workers.public_addresses import without_secrets
from chiron_workers.states import SHOWN_STATUSES, FactStatus, Relation, RunState

ANSWERS_MAX = 50  # of runs that are shown
SENTENCES_MAX = 100  # of an answer
ANSWER_CHARS_MAX = 100_000  # that are looked at
SENTENCE_CHARS_MAX = 4_000  # in which addresses are looked for
NOT_KNOWN_MAX = 100
MARKS = {FactStatus.WITHDRAWN: "withdrawn since", FactStatus.CANDIDATE: "no longer sure enough"}
DELETION_MARK = "deleted since"
EXPIRY_MARK = "so until {until} only"
CONTRADICTION_MARK = "contradicted since by finding {number}"
_URL = re.compile(r"https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]")
_PLACE = re.compile(r"\[(\d{1,3})\]")
_PLACE_MARK = re.compile(r"\[(\d{1,3})\]:?")
SOURCES_HEADS = frozenset({"sources", "references", "quellen"})
_LINE_MARKS = re.compile(r"(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s?)*")


async def written_answer(
    pool: Pool,
    target: Target,
    arrangement: Arrangement,
    subjects: Sequence[SubjectPart],
    runs: Sequence[RunLine],
) -> WrittenAnswer | None:
    """The answer that was handed in last on a target, with what became of its facts since; None where there is none."""
    draft = await latest_draft(pool, str(target.id), owner=target.owner)
    if draft is None:
        return None
    findings = {finding.fact_id: finding for part in arrangement.sections for finding in part.findings}
    findings |= {finding.fact_id: finding for finding in arrangement.asides}
    fact_ids = {
        fact_id for part in draft.sections for sentence in part.sentences for fact_id in sentence.fact_ids
    }
    facts = _Facts(
        findings,
        await report_rows.statuses(pool, sorted(fact_ids)),
        frozenset(finding.number for finding in findings.values() if finding.status in SHOWN_STATUSES),
    )
    sections = [
        WrittenSection(
            part.title, tuple(facts.written(sentence) for sentence in part.sentences), part.title_mark
        )
        for part in draft.sections
    ]
    not_known = tuple(_not_known(subjects, runs, arrangement))
    return WrittenAnswer(str(draft.run_id), draft.model, draft.handed_in_at, tuple(sections), not_known)


@dataclass(frozen=True, slots=True)
class _Facts:
    """The findings of a report by their facts, what became of the facts that an answer names, and which findings are shown."""

    findings: Mapping[str, Finding]
    statuses: Mapping[str, FactStatus]
    shown_numbers: frozenset[int]

    def written(self, sentence: DraftSentence) -> WrittenSentence:
        """A sentence with what became of its facts since it was written."""
        cited_findings = [self.findings[key] for key in sentence.fact_ids if key in self.findings]
        numbers = {finding.number for finding in cited_findings}
        sources = dict.fromkeys(
            citation.source for finding in cited_findings for citation in finding.citations
        )
        return WrittenSentence(
            text=without_secrets(sentence.text),
            facts=tuple(self._reference(sentence.text, fact_id, numbers) for fact_id in sentence.fact_ids),
            sources=tuple(sources),
            is_disputed=any(numbers & set(self._opponents(finding)) for finding in cited_findings),
            verdict_by=sentence.verdict_by,
            verdict=sentence.verdict,
            mark=sentence.mark,
        )

    def _reference(self, text: str, fact_id: str, numbers: set[int]) -> Reference:
        status, finding = self.statuses.get(fact_id), self.findings.get(fact_id)
        number = finding.number if finding else None
        if status is None:
            return Reference(fact_id, number, DELETION_MARK)
        if status not in SHOWN_STATUSES:
            return Reference(fact_id, number, MARKS.get(status, f"{status} since"))
        opponents = self._opponents(finding) if finding else []
        if opponents and not numbers & set(opponents):
            return Reference(fact_id, number, CONTRADICTION_MARK.format(number=opponents[0]))
        if finding and _is_untimely(text, finding):
            return Reference(fact_id, number, EXPIRY_MARK.format(until=finding.valid_until))
        return Reference(fact_id, number)

    def _opponents(self, finding: Finding) -> list[int]:
        """The shown findings that contradict one."""
        relatives = (relative for relative in finding.relatives if relative.relation is Relation.CONTRADICTS)
        return [relative.number for relative in relatives if relative.number in self.shown_numbers]


def _is_untimely(text: str, finding: Finding) -> bool:
    """Whether a finding is no longer valid, and a sentence that rests on it states no time."""
    is_over = is_expired(finding.valid_until, datetime.now(UTC).date())
    return is_over and not states_time(text, finding.valid_from, finding.valid_until)


def _not_known(
    subjects: Sequence[SubjectPart], runs: Sequence[RunLine], arrangement: Arrangement
) -> Iterator[str]:
    """What nothing is known of, where research came to nothing, and what sources disagree on: 100 lines at most."""
    lines = [f"Nothing is known of {node.title}." for subject in subjects for node in subject.missing]
    lines += [line for run in runs if (line := _unanswered(run))]
    lines += [
        f"Findings {contradiction.number} and {contradiction.other} contradict each other, and nothing settles it."
        for contradiction in arrangement.contradictions
    ]
    yield from lines[:NOT_KNOWN_MAX]
    if len(lines) > NOT_KNOWN_MAX:
        yield f"And {len(lines) - NOT_KNOWN_MAX:,} more."


def _unanswered(run: RunLine) -> str:
    if not run.state.is_final:
        return f"The research on “{run.topic}” has not ended."
    if run.state is not RunState.COMPLETED:
        return (
            f"The research on “{run.topic}” was {run.state}."
            if run.state is RunState.CANCELLED
            else (f"The research on “{run.topic}” failed.")
        )
    return (
        ""
        if run.facts or run.confirmed
        else f"The research on “{run.topic}” found nothing that could be stored."
    )


async def run_answers(
    pool: Pool, target: Target, numbers: Mapping[str, Sequence[int]]
) -> tuple[RunAnswer, ...]:
    """What the runs of a target answered, 50 at most.

    Args:
        numbers: The sources of the report by their addresses.
    """
    rows = await report_rows.answers(pool, target, limit=ANSWERS_MAX)
    return tuple(await asyncio.to_thread(lambda: [_run_answer(row, numbers) for row in rows]))


def _run_answer(row: Mapping[str, str], numbers: Mapping[str, Sequence[int]]) -> RunAnswer:
    answer = row["answer"][:ANSWER_CHARS_MAX]
    places = dict(place for line in answer.splitlines() if (place := _place_of(line)))
    sentences = [
        SaidSentence(without_secrets(_without_places(text, places)), _sources_of(text, places, numbers))
        for text in said_sentences(answer)
    ]
    cut = max(0, len(sentences) - SENTENCES_MAX)
    return RunAnswer(row["run_id"], without_secrets(row["topic"]), tuple(sentences[:SENTENCES_MAX]), cut)


def said_sentences(answer: str) -> list[str]:
    """The sentences of an answer, each with the citation marks that follow it; a list of sources at its end is left out."""
    sentences: list[str] = []
    for line in answer.splitlines():
        is_list_of_sources = line.strip(" #*_:.-\t").casefold() in SOURCES_HEADS or _place_of(line)
        prose = "" if is_list_of_sources else _LINE_MARKS.sub("", line.strip(), count=1).strip()
        breaks = sentence_breaks(prose) if prose else []
        for n, (start, end) in enumerate(pairwise(breaks)):
            piece = prose[start:end].strip()
            if n and piece and all(map(_is_mark, piece.split())):
                sentences[-1] += f" {piece}"
            elif piece:
                sentences.append(piece)
    return sentences


def _is_mark(word: str) -> bool:
    return "://" in word or not any(map(str.isalpha, word))


def _without_places(text: str, places: Mapping[str, str]) -> str:
    """A sentence without the numbers of the answer's own list of sources, which are not those of the report."""
    return " ".join(_PLACE.sub(lambda place: "" if place[1] in places else place[0], text).split())


def _place_of(line: str) -> tuple[str, str] | None:
    """The number and the address of an entry in an answer's own list of sources; None for another line."""
    words = line.strip(" -*").split()
    match = _PLACE_MARK.fullmatch(words[0]) if words else None
    return (match[1], words[-1]) if match and len(words) > 1 and "://" in words[-1] else None


def _sources_of(
    text: str, places: Mapping[str, str], numbers: Mapping[str, Sequence[int]]
) -> tuple[int, ...]:
    words = text[:SENTENCE_CHARS_MAX]
    urls = [*_URL.findall(words), *(places[n] for n in _PLACE.findall(words) if n in places)]
    return tuple(dict.fromkeys(number for url in urls for number in numbers.get(address(url), ())))
