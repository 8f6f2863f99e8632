from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from chiron_api.transfer.records import AnyRecord, FactRecord, SubjectRecord
from chiron_workers.errors import UsageError


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds; subjects that only facts name have their id as title."""

    facts: int
    subjects: dict[str, tuple[str, str | None, str]]


def check(lines: Iterable[tuple[int, AnyRecord]]) -> Contents:
    """Read a whole file before anything of it is stored.

    Raises:
        UsageError: A line is wrong, a fact comes twice, or is linked to one that is not in the file.
    """
    facts, linked_on_line = set[int](), dict[int, int]()
    subjects = dict[str, tuple[str, str | None, str]]()
    for number, record in lines:
        if isinstance(record, SubjectRecord):
            subjects[record.subject_id] = (record.title, record.purpose_statement, record.target_depth)
        elif isinstance(record, FactRecord):
            if record.id.int in facts:
                raise UsageError(f"Line {number}: fact {record.id} is in the file twice.")
            facts.add(record.id.int)
            linked_on_line |= {link.other_id.int: number for link in record.links}
            subjects.setdefault(record.subject_id, (record.subject_id, None, "practical"))
    for fact_id, number in sorted(linked_on_line.items(), key=itemgetter(1)):
        if fact_id not in facts:
            raise UsageError(f"Line {number}: a link names a fact that is not in the file.")
    return Contents(len(facts), subjects)
