"""All routes of the page: each folder with a `view` module is a view, and the assets stand beside them."""

import importlib
import pkgutil
from http import HTTPStatus
from mimetypes import guess_type

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from chiron_api.http import page
from chiron_api.http.page.rendering import ASSETS, HEADERS
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem

FOR_EVER = "public, max-age=31536000, immutable"  # the address holds a hash of the content


async def show_asset(request: Request) -> Response:
    """A file of `assets`."""
    name = request.path_params["name"]
    file = next((file for file in ASSETS.iterdir() if file.name == name), None)
    if file is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"Nothing is at {request.url.path}.")
    headers = HEADERS | {"Cache-Control": FOR_EVER}
    return Response(file.read_bytes(), media_type=guess_type(name)[0], headers=headers)


def all_routes() -> list[BaseRoute]:
    """The routes of every view, in the order of their names."""
    packages = sorted(module.name for module in pkgutil.iter_modules(page.__path__) if module.ispkg)
    views = [importlib.import_module(f"{page.__name__}.{name}.view") for name in packages]
    return [
        view("/assets/{hash}/{name}", show_asset),
        *(route for module in views for route in module.routes),
    ]
