"""Rows: what the runs of a batch, or a run, were asked for as a table, each cell with its fact."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.live import Part
from chiron_api.http.page.rendering import page, render
from chiron_api.http.page.rows.table import ROWS_PER_PAGE, RowTable, load
from chiron_api.http.page.views import view
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.errors import NotFound


class Options(Input):
    """The query string: the row that the page begins after."""

    after: UUID | None = None


async def show_batch_rows(request: Request) -> Response:
    """All rows of a batch, in pages."""
    batch = await summary(services_of(request).pool, path_id(request))
    return await _show(request, batch.id, f"/batches/{batch.id}", batch.name, with_topic=True)


async def show_run_rows(request: Request) -> Response:
    """All rows of a run, in pages."""
    run = await run_summary(services_of(request).pool, path_id(request))
    return await _show(request, run.id, f"/runs/{run.id}", run.topic, with_topic=False)


async def _show(request: Request, target: UUID, path: str, title: str, *, with_topic: bool) -> Response:
    after = read_query(request, Options).after
    table = await load(services_of(request).pool, target, path=path, limit=ROWS_PER_PAGE, after=after)
    if table is None:
        raise NotFound("It was submitted without columns, so it has no rows.")
    return page(
        request,
        "rows/page.html",
        section=path.rpartition("/")[0],
        table=table,
        title=title,
        with_topic=with_topic,
        is_first=after is None,
    )


def rows_part(request: Request, table: RowTable | None, *, with_topic: bool) -> list[Part]:
    """The first rows as a part that changes; none where there are no columns."""
    if table is None:
        return []
    return [Part("rows", render(request, "rows/first.html", {"table": table, "with_topic": with_topic}))]


routes = [
    view("/batches/{id}/rows", show_batch_rows),
    view("/runs/{id}/rows", show_run_rows),
]
