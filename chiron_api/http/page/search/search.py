"""What a search on the page asks for, read from its address, and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chiron_api.acts.search import SearchRequest, search_for_people
from chiron_api.services import Services
from chiron_workers.db.queries import load as load_queries
from chiron_workers.errors import NotFound, ToolValidationError
from chiron_workers.knowledge.search.filters import SOURCE_CHARS_MAX, build_condition
from chiron_workers.knowledge.search.search import QUERY_CHARS_MAX, RESULTS_MAX
from chiron_workers.states import SearchMode
from chiron_workers.store import Store

SQL = load_queries(__file__)
PAGE_FACTS = 25
PAGES_MAX = RESULTS_MAX // PAGE_FACTS
FIELDS = ("q", "subject", "topic_path", "source", "min_confidence", "since", "until", "mode", "candidates")
SENTENCES = {
    "q": f"Ask with at most {QUERY_CHARS_MAX:,} characters.",
    "min_confidence": "Write a number from 0 to 1, such as 0.8.",
    "since": "Write a day such as 2026-03-01, or leave it empty.",
    "until": "Write a day such as 2026-04-01, or leave it empty.",
    "mode": f"Choose one of {', '.join(SearchMode)}.",
    "candidates": "Choose one of the two in the list.",
    "page": f"Choose a page from 1 to {PAGES_MAX}.",
}
NAME_SENTENCE = f"Write at most {SOURCE_CHARS_MAX:,} characters."
NAMES = {"subject_id": "subject", "query": "q"}  # of fields that the store calls otherwise

Name = Annotated[str, Field(max_length=SOURCE_CHARS_MAX)]


class Options(BaseModel):
    """The query string of a search; what is empty in it was left out."""

    model_config = ConfigDict(extra="ignore")

    q: Annotated[str, Field(max_length=QUERY_CHARS_MAX)] = ""
    subject: Name | None = None
    topic_path: Name | None = None
    source: Name | None = None
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    since: datetime | date | None = None
    until: datetime | date | None = None
    mode: SearchMode = SearchMode.HYBRID
    candidates: bool = False
    page: Annotated[int, Field(ge=1, le=PAGES_MAX)] = 1

    def request(self, query: str) -> SearchRequest:
        """The search for a query, with every result that a search has."""
        values = self.model_dump(exclude={"q", "subject", "page", "since", "until"})
        days = {"since": self.since, "until": self.until}
        times = {name: day.isoformat() for name, day in days.items() if day}
        return SearchRequest.model_validate(
            {**values, **times, "query": query, "top_k": RESULTS_MAX, "subject_id": self.subject}
        )


@dataclass(frozen=True, slots=True)
class Results:
    """The facts of a page of results; `is_last` where no further page is offered, `problems` by the fields they are of.

    Of a search without words they are the newest, without a score. `note` says why words alone were searched, if they were.
    """

    facts: list[Any]
    page: int
    is_last: bool
    problems: Mapping[str, str]
    note: str = ""


async def find(services: Services, fields: Mapping[str, str]) -> Results:
    """What fits the fields of an address; nothing where one of them makes no sense."""
    try:
        options = Options.model_validate({name: text for name, text in fields.items() if text})
        facts, note = await _find(services, options)
    except ValidationError as error:
        names = [str(entry["loc"][0]) for entry in error.errors()]
        return Results([], 1, True, {name: SENTENCES.get(name, NAME_SENTENCE) for name in names})
    except NotFound as error:
        return Results([], 1, True, {"subject": str(error)})
    except ToolValidationError as error:
        field = NAMES.get(error.field or "", error.field or "q")
        return Results([], 1, True, {field: str(error)})
    is_last = len(facts) <= PAGE_FACTS or options.page == PAGES_MAX
    return Results(facts[:PAGE_FACTS], options.page, is_last, {}, note)


async def _find(services: Services, options: Options) -> tuple[list[Any], str]:
    """The facts of a page, and one more where there is one; and a note. Raises NotFound for an unknown subject."""
    offset = (options.page - 1) * PAGE_FACTS
    if options.q:
        answer = await search_for_people(services, options.request(options.q))
        return answer.items[offset : offset + PAGE_FACTS + 1], answer.note
    async with services.store() as store:
        if options.subject:
            await store.subjects.require(options.subject)
        condition = await build_condition(store.session, options.request("newest").filters)
        statement = SQL["newest"].format(condition=condition.clause)
        args = condition.args | {"limit": PAGE_FACTS + 1, "offset": offset}
        return list(await store.session.rows(statement, args)), ""


async def has_facts(store: Store) -> bool:
    """Whether anything is stored at all."""
    row = await store.session.row(SQL["has_facts"], {})
    return bool(row and row["is_so"])
