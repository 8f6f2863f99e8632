"""A route whose body is read within bounds, beside the event loop where it is long, before FastAPI sees it."""

from collections.abc import Callable, Coroutine
from typing import Any, cast

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from chiron_api.http.bodies import is_empty, read_body
from chiron_api.http.problems import unknown_id

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ReadRequest(Request):
    """A request whose body has been read: FastAPI gets the model that it became."""

    model: BaseModel | None = None

    async def body(self) -> bytes:
        """No more than whether there is one."""
        return b"" if self.model is None else b"{}"

    async def json(self) -> BaseModel | None:
        """The model, which FastAPI takes as it is."""
        return self.model


class BoundedRoute(APIRoute):
    """A route that refuses what is no id as 404 and bounds its body; a GET route answers HEAD too."""

    def get_route_handler(self) -> Handler:
        """FastAPI's handler behind the checks of ids and body."""
        handler = super().get_route_handler()
        path_fields = self.dependant.path_params
        body = self.body_field.field_info if self.body_field else None
        model = cast(type[BaseModel], body.annotation) if body else BaseModel

        async def handle(request: Request) -> Response:
            for field in path_fields:
                if field.validate(text := request.path_params[field.name])[1]:
                    raise unknown_id(text)
            if body is None:
                return await handler(request)
            read = ReadRequest(request.scope, request.receive)
            if body.is_required() or not is_empty(request):
                read.model = await read_body(request, model)
            return await handler(read)

        return handle

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As FastAPI's, with HEAD taken for GET."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        return super().matches({**scope, "method": "GET"} if is_head else scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As FastAPI's, with HEAD answered where GET is; the server sends no body then."""
        if scope["method"] == "HEAD" and "GET" in (self.methods or ()):
            await self.app(scope, receive, send)
        else:
            await super().handle(scope, receive, send)


def api_router(tag: str) -> APIRouter:
    """A router of bounded routes under one heading of the document; an operation is called as its function."""
    return APIRouter(
        route_class=BoundedRoute, tags=[tag], generate_unique_id_function=lambda route: route.name
    )
