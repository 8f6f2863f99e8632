"""The runs that the page lists: those that fit its filters, how many there are, and what else a filter can name."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from chiron_api.acts.runs import RunPage, list_runs
from chiron_api.answers.runs import Run
from chiron_api.http.page.addresses import address_of, query_of
from chiron_api.http.page.forms import as_input
from chiron_api.services import Services
from chiron_workers.batches.summaries import count_runs
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries

SQL = load_queries(__file__)
RUNS_PER_PAGE = 50
COUNTED_MAX = 1_000
CHOICES_FROM = 500  # of the newest runs
CHOICES_MAX = 200
FILTERS = ("topic", "state", "subject", "model", "owner", "since", "batch")
NOTHING_FOUND = "nothing_found"  # a choice among the states


@dataclass(frozen=True, slots=True)
class Selection:
    """The query string: which runs, and after which of them the page begins; "" is any."""

    fields: Mapping[str, str]

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Selection":
        """Read a query string; `nothing_found=true`, as the API has it, is a state here."""
        fields = {name: query.get(name, "").replace("\0", "").strip() for name in (*FILTERS, "after")}
        if query.get(NOTHING_FOUND) == "true":
            fields["state"] = NOTHING_FOUND
        return cls(fields)

    def page(self) -> RunPage:
        """The filter of the act. Raises Problem 422."""
        fields = dict(self.fields)
        if fields["state"] == NOTHING_FOUND:
            fields |= {"state": "", NOTHING_FOUND: "true"}
        return as_input(fields | {"limit": str(RUNS_PER_PAGE)}, RunPage)

    def address(self, **changes: object) -> str:
        """The address of the list with changes; its first page, unless they name another."""
        fields = {**self.fields, "after": "", **{name: str(value) for name, value in changes.items()}}
        return address_of("/runs", fields)

    @property
    def query(self) -> str:
        """All of it as a query string."""
        return query_of(self.fields)

    @property
    def is_filtered(self) -> bool:
        """Whether it leaves runs out."""
        return any(self.fields[name] for name in FILTERS)


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of runs, newest first.

    Attributes:
        count: How many fit; `COUNTED_MAX` may be more.
        next: The `after` of the page that follows, if there is one.
        batches: The batches of the runs, by id.
    """

    runs: list[Run]
    count: int
    next: UUID | None
    batches: dict[UUID, Mapping[str, Any]]


async def load(services: Services, page: RunPage) -> Listing:
    """Read a page of runs, and the choices of its filters."""
    pool, owner = services.pool, services.principal.visible_owner
    runs = await list_runs(services, page)
    batches = await fetch_all(pool, SQL["batches"], {"ids": list({run.batch_id for run in runs.items})})
    is_all = page.after is None and runs.next is None
    count = (
        len(runs.items) if is_all else await count_runs(pool, page.filter_for(owner), up_to=COUNTED_MAX + 1)
    )
    return Listing(runs.items, count, runs.next, {row["id"]: row for row in batches})


async def load_choices(pool: Pool, owner: str | None) -> dict[str, list[str]]:
    """The choices of each filter; owners only for readers who see all batches."""
    args = {"owner": owner, "looked_at": CHOICES_FROM, "limit": CHOICES_MAX}
    rows = await fetch_all(pool, SQL["choices"], args)
    return {name: [row["value"] for row in group] for name, group in groupby(rows, key=itemgetter("name"))}
