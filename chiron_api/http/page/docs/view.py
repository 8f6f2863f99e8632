"""The reference of the HTTP API, drawn from its OpenAPI document."""

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.document import document
from chiron_api.http.page.docs.reference import chapters, common_replies, models, spans
from chiron_api.http.page.rendering import page
from chiron_api.http.page.views import view


async def show_docs(request: Request) -> Response:
    """Every operation with its parameters, body and answers, and every model that they name."""
    api = document()
    headings = chapters(api)
    return page(
        request,
        "docs/page.html",
        section="/docs",
        api=api,
        chapters=headings,
        common=common_replies(headings),
        models=models(api),
        spans=spans,
    )


routes = [view("/docs", show_docs)]
