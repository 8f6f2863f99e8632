"""Search: what is known of a question; every filter stands in the address."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.rendering import page
from chiron_api.http.page.search.search import FIELDS, find, has_facts
from chiron_api.http.page.views import view
from chiron_workers.knowledge.search.filters import SOURCE_CHARS_MAX
from chiron_workers.knowledge.search.search import QUERY_CHARS_MAX
from chiron_workers.states import SearchMode

SUBJECTS_MAX = 200


async def show_results(request: Request) -> Response:
    """The form with its filters, and the facts that fit; the newest where nothing is asked."""
    fields = {
        name: request.query_params.get(name, "").replace("\0", "").strip() for name in (*FIELDS, "page")
    }
    services = services_of(request)
    results = await find(services, fields)
    async with services.store() as store:
        subjects = await store.subjects.all(limit=SUBJECTS_MAX)
        is_empty = not results.facts and not await has_facts(store)
    return page(
        request,
        "search/page.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if results.problems else HTTPStatus.OK,
        query=fields["q"],
        fields=fields,
        results=results,
        subjects=subjects,
        is_empty=is_empty,
        modes=tuple(SearchMode),
        query_chars_max=QUERY_CHARS_MAX,
        filter_chars_max=SOURCE_CHARS_MAX,
        is_filtered=any(fields[name] for name in FIELDS if name not in ("q", "mode")),
        address=lambda **changes: _address(fields, changes),
    )


def _address(fields: Mapping[str, str], changes: Mapping[str, object]) -> str:
    """The address of this search with some fields changed; the first page, unless one is named."""
    entries = {**fields, "page": "", **{name: str(value) for name, value in changes.items()}}
    return "/search?" + urlencode({name: text for name, text in entries.items() if text})


routes = [view("/search", show_results)]
