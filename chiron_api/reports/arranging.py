from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from chiron_api.reports.material import Material
from chiron_api.reports.questions import AskedQuestion
from chiron_api.reports.report import Citation, Contradiction, Finding, Relative, Section
from chiron_workers.knowledge.facts.links import Link
from chiron_workers.knowledge.facts.objections import unlinked_objections
from chiron_workers.knowledge.finding_rows import AssertionRow, FactRow
from chiron_workers.knowledge.report_rows import address
from chiron_workers.states import FactStatus, Ground, QuoteState, Relation, SourceKind, Verdict

# Of two findings at a path the one that nothing contradicts comes first.
WEIGHTS: dict[str, int] = {FactStatus.ACCEPTED: 0, FactStatus.DISPUTED: 1}
# Looked up here in a tenth of the time in which an enumeration is called.
STATUSES = {str(status): status for status in FactStatus}
VERDICTS, GROUNDS = {str(verdict): verdict for verdict in Verdict}, {str(ground): ground for ground in Ground}
SOURCE_KINDS = {str(kind): kind for kind in SourceKind}
Place = tuple[str, str | None]  # an address and the hash of the text it gave


@dataclass(frozen=True, slots=True)
class CitedSource:
    """The number of a source, and the numbers of the findings that cite it."""

    number: int
    by: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Findings in the order in which they are read, and the places that they cite."""

    sections: tuple[Section, ...]
    asides: tuple[Finding, ...]
    contradictions: tuple[Contradiction, ...]
    places: dict[Place, CitedSource]


@dataclass(slots=True)
class _Context:
    """What is at hand while findings are made one after the other."""

    material: Material
    numbers: dict[str, int]
    links: dict[str, list[Link]]
    places: dict[Place, CitedSource] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)  # of sources in their canonical form


def arrange(
    material: Material, places: Mapping[str, int] | None = None, questions: Sequence[AskedQuestion] = ()
) -> Arrangement:
    """Findings by question, and those of no question by subject and topic path; the surest of each first.

    Sources are numbered as they are first cited.

    Args:
        places: The numbers of all findings of a report of which these are some, by their facts; others follow them.
        questions: In the order in which they are shown.
    """
    rows_of_questions = [
        [material.findings[fact_id] for fact_id in question.new_ids if fact_id in material.findings]
        for question in questions
    ]
    placed_ids = {row.id for rows in rows_of_questions for row in rows}
    topics = _by_topic(row for row in material.findings.values() if row.id not in placed_ids)
    aside_topics = _by_topic(material.aside.values())
    numbers = dict(places or {})
    for row in chain(*rows_of_questions, *(rows for _, rows in (*topics, *aside_topics))):
        numbers.setdefault(row.id, len(numbers) + 1)
    context = _Context(material, numbers, _by_fact(material.links.values()))
    of_questions = (
        Section(
            question.row["subject_id"],
            "",
            tuple(_finding(row, context) for row in rows),
            question.placed(numbers),
        )
        for question, rows in zip(questions, rows_of_questions, strict=True)
    )
    of_topics = (
        Section(subject_id, path, tuple(_finding(row, context) for row in rows))
        for (subject_id, path), rows in topics
    )
    sections = (*of_questions, *of_topics)
    asides = tuple(_finding(row, context) for _, rows in aside_topics for row in rows)
    contradictions = sorted(
        _contradictions(context), key=lambda contradiction: (contradiction.number, contradiction.other)
    )
    return Arrangement(sections, asides, tuple(contradictions), context.places)


def order_of_topic(subject_id: str, path: str) -> tuple[object, ...]:
    """What topics are ordered by."""
    return subject_id, path.casefold().split("/"), path


def _by_topic(rows: Iterable[FactRow]) -> list[tuple[tuple[str, str], list[FactRow]]]:
    rows_by_topic: dict[tuple[str, str], list[FactRow]] = defaultdict(list)
    for row in rows:
        rows_by_topic[row.subject_id, row.topic_path].append(row)
    for rows_of_topic in rows_by_topic.values():
        rows_of_topic.sort(key=_order)
    return sorted(rows_by_topic.items(), key=lambda topic: order_of_topic(*topic[0]))


def _order(row: FactRow) -> tuple[object, ...]:
    return WEIGHTS.get(row.status, len(WEIGHTS)), -row.confidence, row.id


def _by_fact(links: Iterable[Link]) -> dict[str, list[Link]]:
    links_by_fact: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        links_by_fact[link.fact_id].append(link)
        links_by_fact[link.other_id].append(link)
    return links_by_fact


def _finding(row: FactRow, context: _Context) -> Finding:
    fact_id = row.id
    number, content = context.numbers[fact_id], row.content
    assertions = context.material.assertions.pop(fact_id, [])  # so that nothing is held twice
    citations = [_citation(assertion, content, number, context) for assertion in assertions]
    links = context.links.get(fact_id, ())
    relatives = [_relative(fact_id, link, context.numbers) for link in links] if links else []
    return Finding(
        number=number,
        fact_id=fact_id,
        subject_id=row.subject_id,
        topic_path=row.topic_path,
        content=content,
        status=STATUSES[row.status],
        confidence=row.confidence,
        origins=context.material.origins.get(fact_id, 0),
        citations=tuple(citations),
        relatives=tuple(sorted(relatives, key=lambda relative: relative.number)) if relatives else (),
        objections=unlinked_objections(row.contradictions, _contradicting(fact_id, context))
        if row.contradictions
        else (),
        validated_at=row.validated_at,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        superseded_by=row.superseded_by,
    )


def _citation(row: AssertionRow, content: str, number: int, context: _Context) -> Citation:
    material, url = context.material, row.source_url
    place = (
        context.addresses.get(url) or context.addresses.setdefault(url, address(url)),
        row.snapshot_hash,
    )
    source = context.places.get(place) or context.places.setdefault(
        place, CitedSource(len(context.places) + 1)
    )
    if not source.by or source.by[-1] != number:
        source.by.append(number)
    return Citation(
        source=source.number,
        wording="" if row.content == content else row.content,
        quote=row.quote or "",
        is_verified=row.quote_state == QuoteState.VERIFIED,
        source_score=row.source_score,
        source_mark=material.source_marks.get(row.id, ""),
        stored_at=row.created_at,
        context=row.context,
        verdict=VERDICTS[row.verdict],
        verdict_reason=row.verdict_reason,
        verdict_by=row.verdict_by,
        source_kind=SOURCE_KINDS[row.source_kind],
        claimed_score=row.claimed_score,
        observed_at=row.observed_at,
        ground=GROUNDS[row.ground],
        assertion_id=row.id,
        selection=material.selections.get(row.id),
    )


def _relative(fact_id: str, link: Link, numbers: dict[str, int]) -> Relative:
    is_active = link.fact_id == fact_id
    return Relative(numbers[link.other_id if is_active else link.fact_id], link.relation, is_active)


def _contradicting(fact_id: str, context: _Context) -> Iterator[str]:
    """What the facts say that contradict a fact."""
    findings, aside = context.material.findings, context.material.aside
    for link in context.links.get(fact_id, ()):
        other_id = link.other_id if link.fact_id == fact_id else link.fact_id
        row = findings.get(other_id) or aside.get(other_id)
        if row is not None and link.relation is Relation.CONTRADICTS:
            yield row.content


def _contradictions(context: _Context) -> Iterator[Contradiction]:
    for link in context.material.links.values():
        if link.relation is Relation.CONTRADICTS:
            first, second = sorted((context.numbers[link.fact_id], context.numbers[link.other_id]))
            yield Contradiction(first, second, link.decided_by, link.reason)
