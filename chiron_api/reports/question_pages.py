"""Which questions of a batch stand on which page of its report, without reading all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from psycopg.rows import DictRow

from chiron_api.reports.questions import QUESTIONS_MAX, AskedQuestion, with_attempts
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.report_rows import Target
from chiron_workers.states import FactStatus, ReportKind


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the question at `place`: `facts` of those that it is the first to have, from `start` on."""

    place: int
    start: int
    facts: int


@dataclass(frozen=True, slots=True)
class QuestionPages:
    """The questions of a report by page. `sizes` has how many facts each question is the first to have."""

    sizes: Sequence[int]
    pages: Sequence[Sequence[Piece]]
    disputed_facts: int
    candidate_facts: int

    @property
    def facts(self) -> int:
        """All facts of the report."""
        return sum(self.sizes)

    def first_pages(self, questions: int) -> list[int]:
        """The page on which each of so many first questions begins."""
        begins: dict[int, int] = {}
        for number, page in enumerate(self.pages, start=1):
            for piece in page:
                begins.setdefault(piece.place, number)
            if len(begins) >= questions:
                break
        return [begins[place] for place in range(min(questions, len(begins)))]


async def lay_out_questions(
    pool: Pool, target: Target, statuses: Sequence[FactStatus], *, page_facts: int
) -> QuestionPages | None:
    """The pages of a report on a batch or a run; None for a subject, and where it has no questions.

    A page has whole questions, about as many as have `page_facts`; one without any takes as much room as a fact. One with
    more facts than a page continues on the next.
    """
    if target.kind is ReportKind.SUBJECT:
        return None
    row = await report_rows.question_sizes(pool, target, statuses=statuses, limit=QUESTIONS_MAX)
    if not row["sizes"]:
        return None
    pages = tuple(_paged(row["sizes"], page_facts))
    return QuestionPages(row["sizes"], pages, row["disputed"], row["candidates"])


async def read_page(
    pool: Pool,
    target: Target,
    layout: QuestionPages,
    number: int,
    statuses: Sequence[FactStatus],
    *,
    cited_ids: Sequence[str] = (),
) -> tuple[list[AskedQuestion], dict[str, int]]:
    """The questions of a page, and the numbers of its facts, of those that it repeats and of those in `cited_ids`."""
    pieces = layout.pages[number - 1]
    first, last = pieces[0].place, pieces[-1].place
    rows = await report_rows.questions_from(
        pool, target, place=first, statuses=statuses, limit=last - first + 1
    )
    questions = await _divided(pool, target, rows)
    places = {question.row["run_id"]: place for place, question in enumerate(questions, start=first)}
    other_ids = {fact_id for question in questions for fact_id in question.repeated_ids} | set(cited_ids)
    other_ids -= {fact_id for question in questions for fact_id in question.new_ids}
    other_questions, other_places = await _first_to_have(pool, target, sorted(other_ids), statuses)
    numbers = _numbers(layout, [*questions, *other_questions], {**other_places, **places})
    by_place = dict(enumerate(questions, start=first))
    page_questions = [_cut(by_place[piece.place], piece) for piece in pieces if piece.place in by_place]
    return await with_attempts(pool, page_questions), numbers


async def read_first(
    pool: Pool, target: Target, layout: QuestionPages, statuses: Sequence[FactStatus], *, limit: int
) -> tuple[list[AskedQuestion], dict[str, int]]:
    """The first questions, whole, and the numbers of their facts."""
    rows = await report_rows.questions_from(pool, target, place=0, statuses=statuses, limit=limit)
    questions = await _divided(pool, target, rows)
    places = {question.row["run_id"]: place for place, question in enumerate(questions)}
    return questions, _numbers(layout, questions, places)


async def _first_to_have(
    pool: Pool, target: Target, fact_ids: Sequence[str], statuses: Sequence[FactStatus]
) -> tuple[list[AskedQuestion], dict[str, int]]:
    """The questions that are the first to have these facts, and the place of each by its run."""
    if not fact_ids:
        return [], {}
    run_ids = sorted(set((await report_rows.first_questions(pool, target, fact_ids)).values()))
    places = await report_rows.question_places(pool, target, run_ids, limit=QUESTIONS_MAX)
    rows = await report_rows.questions_of_runs(pool, list(places), statuses=statuses)
    return await _divided(pool, target, rows), places


async def _divided(pool: Pool, target: Target, rows: Sequence[DictRow]) -> list[AskedQuestion]:
    """Questions whose facts are new, or were there with an earlier one."""
    fact_ids = sorted({fact_id for row in rows for fact_id in row["fact_ids"]})
    first_run_ids = await report_rows.first_questions(pool, target, fact_ids)
    return [
        AskedQuestion(
            row,
            tuple(fact_id for fact_id in row["fact_ids"] if first_run_ids.get(fact_id) == row["run_id"]),
            tuple(fact_id for fact_id in row["fact_ids"] if first_run_ids.get(fact_id) != row["run_id"]),
        )
        for row in rows
    ]


def _numbers(
    layout: QuestionPages, questions: Sequence[AskedQuestion], places: Mapping[str, int]
) -> dict[str, int]:
    before = [0, *accumulate(layout.sizes)]
    return {
        fact_id: n
        for question in questions
        for n, fact_id in enumerate(question.new_ids, start=before[places[question.row["run_id"]]] + 1)
    }


def _cut(question: AskedQuestion, piece: Piece) -> AskedQuestion:
    return question.part(piece.start, piece.start + max(1, piece.facts))


def _paged(sizes: Sequence[int], page_facts: int) -> Iterator[tuple[Piece, ...]]:
    page, room = list[Piece](), page_facts
    for piece in _pieces(sizes, page_facts):
        size = max(1, piece.facts)
        if page and size > room:
            yield tuple(page)
            page, room = [], page_facts
        page.append(piece)
        room -= size
    yield tuple(page)


def _pieces(sizes: Sequence[int], page_facts: int) -> Iterator[Piece]:
    for place, size in enumerate(sizes):
        yield Piece(place, 0, min(size, page_facts))
        for start in range(page_facts, size, page_facts):
            yield Piece(place, start, min(page_facts, size - start))
