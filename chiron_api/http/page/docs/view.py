"""The reference of the HTTP API, drawn from its OpenAPI document."""

import asyncio
import threading
from functools import cache

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.document import document
from chiron_api.http.page.docs.reference import chapters, common_replies, models, spans
from chiron_api.http.page.rendering import environment, page
from chiron_api.http.page.views import view

_LOCK = threading.Lock()


async def show_docs(request: Request) -> Response:
    """Every operation with its parameters, body and answers, and every model that they name."""
    return page(request, "docs/page.html", section="/docs", reference=await asyncio.to_thread(_reference))


def _reference() -> Markup:
    """What is the same for everybody, rendered once, also where many ask at the same time."""
    with _LOCK:
        return _rendered_reference()


@cache
def _rendered_reference() -> Markup:
    api = document()
    headings = chapters(api)
    text = (
        environment()
        .get_template("docs/reference.html")
        .render(
            api=api,
            chapters=headings,
            common=common_replies(headings),
            models=models(api),
            spans=spans,
        )
    )
    return Markup(text)  # noqa: S704  # the template has escaped it


routes = [view("/docs", show_docs)]
