from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from psycopg.rows import DictRow

from chiron_api.reports.material import Material
from chiron_api.reports.report import Citation, Contradiction, Finding, Relative, Section
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.knowledge.facts.links import Link
from chiron_workers.knowledge.report_rows import address
from chiron_workers.states import FactStatus, QuoteState, Relation

Place = tuple[str, str | None]  # an address and the hash of the text it gave


@dataclass(frozen=True, slots=True)
class Cited:
    """The number of a source, and the numbers of the findings that cite it."""

    number: int
    by: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Findings in the order in which they are read, and the places that they cite."""

    sections: tuple[Section, ...]
    asides: tuple[Finding, ...]
    contradictions: tuple[Contradiction, ...]
    places: dict[Place, Cited]


@dataclass(slots=True)
class _Desk:
    """What is at hand while findings are made one after the other."""

    material: Material
    numbers: dict[str, int]
    links: dict[str, list[Link]]
    places: dict[Place, Cited] = field(default_factory=dict)


def arrange(material: Material) -> Arrangement:
    """Findings by subject and topic path, the surest first; sources are numbered as they are first cited."""
    listed = sorted(material.listed.values(), key=_order)
    aside = sorted(material.aside.values(), key=_order)
    numbers = {row["id"]: number for number, row in enumerate([*listed, *aside], start=1)}
    desk = _Desk(material, numbers, _by_fact(material.links.values()))
    sections = tuple(
        Section(subject_id, path, tuple(_finding(row, desk) for row in rows))
        for (subject_id, path), rows in groupby(
            listed, key=lambda row: (row["subject_id"], row["topic_path"])
        )
    )
    asides = tuple(_finding(row, desk) for row in aside)
    contradictions = sorted(_contradictions(desk), key=lambda one: (one.number, one.other))
    return Arrangement(sections, asides, tuple(contradictions), desk.places)


def _order(row: DictRow) -> tuple[object, ...]:
    path: str = row["topic_path"]
    return row["subject_id"], path.casefold().split("/"), path, -row["confidence"], row["id"]


def _by_fact(links: Iterable[Link]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        found[link.fact_id].append(link)
        found[link.other_id].append(link)
    return found


def _finding(row: DictRow, desk: _Desk) -> Finding:
    fact_id = row["id"]
    assertions = desk.material.assertions.pop(fact_id, [])  # so that nothing is held twice
    relatives = [_relative(fact_id, link, desk.numbers) for link in desk.links.get(fact_id, ())]
    return Finding(
        number=desk.numbers[fact_id],
        fact_id=fact_id,
        subject_id=row["subject_id"],
        topic_path=row["topic_path"],
        content=row["content"],
        status=FactStatus(row["status"]),
        confidence=row["confidence"],
        origins=desk.material.origins.get(fact_id, 0),
        citations=tuple(_citation(one, row["content"], desk.numbers[fact_id], desk) for one in assertions),
        relatives=tuple(sorted(relatives, key=lambda one: one.number)),
        objections=tuple(text for text in row["contradictions"] if parse_id_or_none(text) is None),
        validated_at=row["validated_at"],
    )


def _citation(row: DictRow, content: str, number: int, desk: _Desk) -> Citation:
    place = (address(row["source_url"]), row["snapshot_hash"])
    cited = desk.places.setdefault(place, Cited(len(desk.places) + 1))
    if number not in cited.by[-1:]:
        cited.by.append(number)
    return Citation(
        source=cited.number,
        wording="" if row["content"] == content else row["content"],
        quote=row["quote"] or "",
        is_verified=row["quote_state"] == QuoteState.VERIFIED,
        source_score=row["source_score"],
        source_mark=desk.material.source_marks.get(row["id"], ""),
        stored_at=row["created_at"],
    )


def _relative(fact_id: str, link: Link, numbers: dict[str, int]) -> Relative:
    is_active = link.fact_id == fact_id
    return Relative(numbers[link.other_id if is_active else link.fact_id], link.relation, is_active)


def _contradictions(desk: _Desk) -> Iterator[Contradiction]:
    for link in desk.material.links.values():
        if link.relation is Relation.CONTRADICTS:
            first, second = sorted((desk.numbers[link.fact_id], desk.numbers[link.other_id]))
            yield Contradiction(first, second, link.decided_by, link.reason)
