from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TypeVar

from starlette.responses import Response

from chiron_api.text import as_json
from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.knowledge.facts.fact_pages import ListedFact

Item = TypeVar("Item", BatchSummary, RunSummary, ListedFact)


def json_response(
    value: object, status: HTTPStatus = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response in the form that the commands print with --json."""
    return Response(as_json(value), status.value, headers=dict(headers or {}), media_type="application/json")


def page_response(items: Sequence[Item], limit: int) -> Response:
    """The first `limit` items; `next` is the id of the last of them if there are more, else null."""
    page = items[:limit]
    return json_response({"items": page, "next": page[-1].id if len(items) > limit else None})
