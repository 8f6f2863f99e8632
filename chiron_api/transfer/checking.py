from collections.abc import Iterable
from operator import itemgetter

from chiron_api.transfer.records import AnyRecord, FactRecord, SubjectRecord
from chiron_workers.errors import UsageError


def check(lines: Iterable[tuple[int, AnyRecord]]) -> list[SubjectRecord]:
    """Read a whole file before anything of it is stored; its subjects, of which those that only facts name have their
    id as title.

    Raises:
        UsageError: A line is wrong, a fact comes twice, or is linked to one that is not in the file.
    """
    facts, linked_on_line = set[int](), dict[int, int]()
    subjects = dict[str, SubjectRecord]()
    for number, record in lines:
        if isinstance(record, SubjectRecord):
            subjects[record.subject_id] = record
        elif isinstance(record, FactRecord):
            if record.id.int in facts:
                raise UsageError(f"Line {number}: fact {record.id} is in the file twice.")
            facts.add(record.id.int)
            linked_on_line |= {link.other_id.int: number for link in record.links}
            by_id = SubjectRecord(subject_id=record.subject_id, title=record.subject_id)
            subjects.setdefault(record.subject_id, by_id)
    for fact_id, number in sorted(linked_on_line.items(), key=itemgetter(1)):
        if fact_id not in facts:
            raise UsageError(f"Line {number}: a link names a fact that is not in the file.")
    return list(subjects.values())
