"""What FastAPI hands to a route: the services of the process, the opener of its store, the idempotency key."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Annotated

from fastapi import Depends, Header
from starlette.requests import Request

from chiron_api.http.open_streams import OpenStreams
from chiron_api.services import Services
from chiron_workers.batches.submit import KEY_CHARS_MAX
from chiron_workers.store import Store


def services_of(request: Request) -> Services:
    """The services of the process that answers, on behalf of whoever sends the request."""
    services: Services = request.state.services
    return services.of(request.state.principal)


def admit_stream(request: Request) -> ExitStack:
    """Count a stream of the request's key until the returned stack is closed. Raises RateExceeded."""
    streams: OpenStreams = request.state.open_streams
    return streams.admit(request.state.principal)


def store_opener(request: Request) -> Callable[[], Store]:
    """A function that makes a store for this request; `async with` commits it before the answer is sent."""
    return services_of(request).store


IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=KEY_CHARS_MAX)]
ServicesOf = Annotated[Services, Depends(services_of)]
StoreOpener = Annotated[Callable[[], Store], Depends(store_opener)]
