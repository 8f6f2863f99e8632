"""The HTTP API: the routes of acts, and those that no act is, such as streams, of which each module brings a `router`."""

import importlib
import pkgutil
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager

import psycopg
import redis.exceptions
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from chiron_api.acts.discovery import acts_by_module
from chiron_api.http import problems, routes
from chiron_api.http.act_routes import router_of
from chiron_api.http.auth import Authentication, is_of_page
from chiron_api.http.exposition import Exposition
from chiron_api.http.guesses import Guesses
from chiron_api.http.open_streams import OpenStreams
from chiron_api.http.page.routes import all_routes as page_routes
from chiron_api.http.page.shared_views import SharedViews
from chiron_api.http.page.views import error_page
from chiron_api.local_stack.access import api_key
from chiron_api.rights import unlisted
from chiron_api.services import Services
from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.errors import ChironError, ToolExecutionError
from chiron_workers.pubsub.streams import Streams
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import SharedFleet

AWAY_S = 1.5  # while Postgres is away, a request is told so within two seconds


def build_app(settings: Settings) -> FastAPI:
    """The application, with one embedder; its pool of connections is opened when it starts.

    Raises:
        ConfigurationError: It would listen beyond this machine without a key, or the embedder lacks a setting.
    """
    key = api_key(settings)
    embedder = open_embedder(settings)
    guesses = Guesses()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, object]]:
        try:
            pool_opener = open_pool(
                settings.database_url, size=settings.pool_size, away_s=AWAY_S, is_patient=True
            )
            async with (
                pool_opener as pool,
                aclosing(Exposition(settings, pool)) as exposition,
                aclosing(SharedFleet(pool, settings)) as fleet,
            ):
                services = Services(
                    settings, pool, lambda: embedder, Streams(pool, settings.redis_url), fleet
                )
                yield {
                    "services": services,
                    "exposition": exposition,
                    "guesses": guesses,
                    "views": SharedViews(services.streams),
                    "open_streams": OpenStreams(settings.streams_per_key),
                }
        finally:
            await embedder.close()

    return FastAPI(
        routes=_listed([*all_routes(), *page_routes()]),
        openapi_url=None,  # the document is a route of its own
        redirect_slashes=False,  # a redirected POST loses its body with many clients
        middleware=[Middleware(Authentication, key=key, guesses=guesses)],
        exception_handlers={
            problems.Problem: problems.answer_problem,
            ChironError: problems.answer_chiron_error,
            ToolExecutionError: problems.answer_failed_tool,
            RequestValidationError: problems.answer_invalid_request,
            HTTPException: answer_unrouted,
            ClientDisconnect: problems.answer_nobody,
            psycopg.DataError: problems.answer_unstorable,
            psycopg.OperationalError: problems.answer_lost_service,
            psycopg.errors.ReadOnlySqlTransaction: problems.answer_lost_service,
            redis.exceptions.ConnectionError: problems.answer_lost_service,
            Exception: problems.answer_fault,
        },
        lifespan=lifespan,
    )


def _listed(application_routes: list[BaseRoute]) -> list[BaseRoute]:
    """Return the routes. Raises RuntimeError if the table of rights lacks one, since every key that may read could use it."""
    if missing := unlisted(_methods_and_paths(application_routes)):
        raise RuntimeError(f"chiron_api/rights.py has to say who may use: {', '.join(missing)}.")
    return application_routes


def _methods_and_paths(application_routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    for route in application_routes:
        if isinstance(route, Route):
            yield from ((method, route.path) for method in (route.methods or set()) - {"HEAD"})


async def answer_unrouted(request: Request, error: Exception) -> Response:
    """What the router refuses, as a page where a person looks."""
    problem = problems.refusal_of_router(request, error)
    return error_page(request, problem) if is_of_page(request) else problem.response()


def all_routes() -> list[BaseRoute]:
    """The routes of acts and of every module of `routes`, in the order of the names of modules."""
    routers = {name: [router_of(acts)] for name, acts in acts_by_module().items()}
    for module in pkgutil.iter_modules(routes.__path__):
        router = importlib.import_module(f"{routes.__name__}.{module.name}").router
        routers.setdefault(module.name, []).append(router)
    return [route for name in sorted(routers) for router in routers[name] for route in router.routes]
