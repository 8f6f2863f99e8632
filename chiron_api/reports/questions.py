"""The questions of a batch or a run in the order in which they were asked, each with its answer and its facts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from psycopg.rows import DictRow

from chiron_api.reports.report import Attempts, Question
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.report_rows import Target
from chiron_workers.public_addresses import public_address, without_secrets
from chiron_workers.states import FactStatus, ReportKind, RunState

QUESTIONS_MAX = 10_000
CALLS_READ_MAX = 200  # of a run, of which some are repeated
ATTEMPTS_MAX = 10  # searches, and pages, that are shown
PAGES_OF_TOOLS = "web_fetch"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A run with its answer and its facts: `new_ids` are shown with it, `repeated_ids` with an earlier question."""

    row: DictRow
    new_ids: tuple[str, ...]
    repeated_ids: tuple[str, ...]
    attempts: Attempts | None = None
    is_continued: bool = False

    def part(self, start: int, end: int) -> "AskedQuestion":
        """The question with a slice of its new facts; only the first part has the repeated ones."""
        new_ids = self.new_ids[start:end]
        return replace(
            self, new_ids=new_ids, repeated_ids=() if start else self.repeated_ids, is_continued=start > 0
        )

    @property
    def answer(self) -> str:
        """The answer of its run; empty before its end, and in further parts of the question."""
        return "" if self.is_continued else self.row["answer"] or ""

    def placed(self, numbers: Mapping[str, int]) -> Question:
        """The question as a report has it, whose findings have these numbers."""
        row = self.row
        stored_ids = set(row["stored_ids"])
        return Question(
            number=row["number"],
            run_id=row["run_id"],
            topic=without_secrets(row["topic"]),
            state=RunState(row["state"]),
            nothing_found=row["nothing_found"],
            repeats=tuple(numbers[fact_id] for fact_id in self.repeated_ids if fact_id in numbers),
            known_findings=tuple(
                numbers[fact_id]
                for fact_id in self.new_ids
                if fact_id in numbers and fact_id not in stored_ids
            ),
            hidden_facts=0 if self.is_continued else row["hidden_facts"],
            attempts=self.attempts,
            context=without_secrets(row["context"]) if row["context"] and not self.is_continued else None,
        )


async def read_questions(pool: Pool, target: Target, statuses: Sequence[FactStatus]) -> list[AskedQuestion]:
    """The questions of a batch or a run, 10,000 at most; a subject has none."""
    if target.kind is ReportKind.SUBJECT:
        return []
    rows = [
        row
        async for page in report_rows.questions(pool, target, statuses=statuses, limit=QUESTIONS_MAX)
        for row in page
    ]
    return await with_attempts(pool, list(_asked(rows)))


async def with_attempts(pool: Pool, questions: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """The questions, those without facts with the attempts that their journals tell."""
    fruitless_ids = [
        question.row["run_id"]
        for question in questions
        if not question.row["fact_ids"] and not question.row["is_pruned"]
    ]
    attempts = _attempts(fruitless_ids, await report_rows.attempts(pool, fruitless_ids, limit=CALLS_READ_MAX))
    return [replace(question, attempts=attempts.get(question.row["run_id"])) for question in questions]


def _asked(rows: Iterable[DictRow]) -> Iterator[AskedQuestion]:
    shown_ids: set[str] = set()
    for row in rows:
        new_ids = tuple(fact_id for fact_id in row["fact_ids"] if fact_id not in shown_ids)
        repeated_ids = tuple(fact_id for fact_id in row["fact_ids"] if fact_id in shown_ids)
        shown_ids.update(new_ids)
        yield AskedQuestion(row, new_ids, repeated_ids)


def _attempts(run_ids: Sequence[str], calls: Iterable[Mapping[str, str]]) -> dict[str, Attempts]:
    searches: dict[str, dict[str, None]] = {run_id: {} for run_id in run_ids}
    pages: dict[str, dict[str, None]] = {run_id: {} for run_id in run_ids}
    for call in calls:
        if call["name"] == PAGES_OF_TOOLS:
            pages[call["run_id"]][public_address(call["words"])] = None
        else:
            searches[call["run_id"]][without_secrets(call["words"])] = None
    return {
        run_id: Attempts(
            tuple(searches[run_id])[:ATTEMPTS_MAX],
            tuple(pages[run_id])[:ATTEMPTS_MAX],
            sum(max(0, len(words) - ATTEMPTS_MAX) for words in (searches[run_id], pages[run_id])),
        )
        for run_id in run_ids
    }
