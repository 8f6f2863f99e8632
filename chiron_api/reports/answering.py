"""The written answer and the answers of the runs, as parts of a report."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from chiron_api.reports.answer import (
    Reference,
    RunAnswer,
    SaidSentence,
    WrittenAnswer,
    WrittenSection,
    WrittenSentence,
)
from chiron_api.reports.arranging import Arrangement, CitedSource, Place
from chiron_api.reports.questions import AskedQuestion
from chiron_api.reports.report import Finding, RunLine, SubjectPart
from chiron_workers.db.connect import Pool
from chiron_workers.evidence.citations import CitedSentence, read_answer, without_places
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.drafts.expiry import is_expired, states_time
from chiron_workers.knowledge.drafts.reading import DraftSentence, latest_draft
from chiron_workers.knowledge.report_rows import Target, address
from chiron_workers.public_addresses import public_address, without_secrets
from chiron_workers.states import SHOWN_STATUSES, FactStatus, Relation, RunState

ANSWERS_MAX = 50  # of runs that are shown
SENTENCES_MAX = 100  # of an answer
NOT_KNOWN_MAX = 100
MARKS = {FactStatus.WITHDRAWN: "withdrawn since", FactStatus.CANDIDATE: "no longer sure enough"}
DELETION_MARK = "deleted since"
EXPIRY_MARK = "so until {until} only"
CONTRADICTION_MARK = "contradicted since by finding {number}"


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
        if run.facts or run.confirmed or run.cited
        else f"The research on “{run.topic}” found nothing that could be stored."
    )


async def run_answers(pool: Pool, target: Target, arrangement: Arrangement) -> tuple[RunAnswer, ...]:
    """What the runs of a subject answered, 50 at most."""
    rows = await report_rows.answers(pool, target, limit=ANSWERS_MAX)
    citable = _Citable.of(arrangement)
    return tuple(
        await asyncio.to_thread(
            lambda: [_run_answer(row["run_id"], row["topic"], row["answer"], citable) for row in rows]
        )
    )


async def answers_to(questions: Sequence[AskedQuestion], arrangement: Arrangement) -> tuple[RunAnswer, ...]:
    """What the runs answered to questions, of those that did."""
    citable = _Citable.of(arrangement)
    return tuple(
        await asyncio.to_thread(
            lambda: [
                _run_answer(question.row["run_id"], question.row["topic"], question.answer, citable)
                for question in questions
                if question.answer
            ]
        )
    )


@dataclass(frozen=True, slots=True)
class _Citable:
    """The numbers of a report's sources, by their addresses and by the facts that rest on them."""

    by_address: Mapping[str, Sequence[int]]
    by_fact: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, arrangement: Arrangement) -> Self:
        findings = [finding for part in arrangement.sections for finding in part.findings]
        return cls(
            numbers_by_address(arrangement.places),
            {finding.fact_id: [citation.source for citation in finding.citations] for finding in findings},
        )

    def said(self, sentence: CitedSentence, text: str) -> SaidSentence:
        """A sentence with the sources that it names."""
        numbers_by_url = {url: self._numbers(url) for url in sentence.addresses}
        numbers = [number for of_url in numbers_by_url.values() for number in of_url]
        numbers += [number for fact_id in sentence.fact_ids for number in self.by_fact.get(fact_id, ())]
        other_urls = [public_address(url) for url in sentence.addresses if not numbers_by_url[url]]
        return SaidSentence(text, tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(other_urls)))

    def _numbers(self, url: str) -> Sequence[int]:
        # Most answers have an address as it is stored, and need not put it into that form.
        return self.by_address.get(url) or self.by_address.get(address(url), ())


def numbers_by_address(places: Mapping[Place, CitedSource]) -> dict[str, list[int]]:
    """The numbers of sources by their addresses as they are stored."""
    numbers: dict[str, list[int]] = {}
    for (url, _), citations in places.items():
        numbers.setdefault(url, []).append(citations.number)
    return numbers


def _run_answer(run_id: str, topic: str, answer: str, citable: _Citable) -> RunAnswer:
    said_answer = read_answer(answer)
    sentences = [
        citable.said(sentence, without_secrets(without_places(sentence.text, said_answer.places)))
        for sentence in said_answer.sentences[:SENTENCES_MAX]
    ]
    surplus = max(0, len(said_answer.sentences) - SENTENCES_MAX)
    return RunAnswer(run_id, without_secrets(topic), tuple(sentences), surplus)
