"""The gate: whose request it is, and whether that is enough for it."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from http import HTTPStatus
from uuid import UUID

import psycopg
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chiron_api.http.audit_trail import recorded
from chiron_api.http.csrf import CSRF_HEADER, has_token, token_for
from chiron_api.http.guesses import Guesses, address_of, is_own_machine
from chiron_api.http.origins import refusal_status
from chiron_api.http.principals import Credentials, Principals, credentials_of
from chiron_api.http.problems import Problem, lost_service_problem, problem_of
from chiron_api.http.run_numbers import name_run_by_id
from chiron_api.rights import SAFE_METHODS, find, is_open, required_scope
from chiron_workers.access.audit import Act, acting
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.access.sessions import shared_secret
from chiron_workers.batches.ownership import require_visible
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError, ScopeExceeded, Unauthenticated
from chiron_workers.states import AccessScope

CLOSE_PATH = "/close"
NOBODY = Principal("", AccessScope.READ)
FindPool = Callable[[Scope], Awaitable[Pool]]


class _KeyEnded(Exception):
    """The key or the session of a stream is over: nothing more is sent."""


async def pool_of_services(scope: Scope) -> Pool:
    """The pool of an application whose state has its services."""
    pool: Pool = scope["state"]["services"].pool
    return pool


class Authentication:
    """ASGI middleware that checks each request before its route, and sets `request.state.principal`.

    Args:
        key: Of the user of this machine; empty where none is asked for.
        find_pool: Where keys and sessions are looked up; the user's own key needs no database.
        has_pages: Whether there are pages with forms.
        guesses: Wrong keys, counted together with those of the form.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        key: str,
        find_pool: FindPool = pool_of_services,
        has_pages: bool = True,
        guesses: Guesses | None = None,
    ) -> None:
        self.app = app
        self._guesses = guesses or Guesses()
        self._has_pages = has_pages
        self._needs_key = bool(key)
        self._principals = Principals(key)
        self._find_pool = find_pool
        self._page_secret = b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 402, 403, 404, 421 or 429, or pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request, credentials = Request(scope), credentials_of(Request(scope).headers)
        if not is_open(path_of(request)):
            send = _stored_nowhere(send)
        try:
            principal = await self._admit(request, credentials)
            if principal is not NOBODY:
                await name_run_by_id(scope, self._find_pool, principal)
                _require_scope(principal, request)
                await _require_visible_target(lambda: self._find_pool(scope), request, principal)
        except (Problem, ChironError, psycopg.OperationalError) as error:
            await _refusal(request, error)(scope, receive, send)
            return
        scope["state"]["principal"] = principal
        act = self._act(request, principal)
        if act is not None:
            send = recorded(send, lambda: self._find_pool(scope), act)
        if self._needs_key and (principal.key_id is not None or credentials.session):
            send = self._while_valid(scope, credentials, send)
        try:
            with acting(act) if act is not None else nullcontext():
                await self.app(scope, receive, send)
        except* _KeyEnded:
            pass

    def _act(self, request: Request, principal: Principal) -> Act | None:
        match find(request.method, path_of(request)):
            case operation, target if operation.is_recorded:
                return Act(principal, operation.name, target, {"via": "http"})
        return None

    async def _admit(self, request: Request, credentials: Credentials) -> Principal:
        """Raises Problem, ChironError, OperationalError."""
        path, state = path_of(request), request.scope["state"]
        if not self._needs_key:
            _refuse_other_sites(request)
            if self._has_pages and not path.startswith("/v1/") and not is_open(path):
                state["csrf_token"] = token_for(await self._secret_of_pages(request.scope))
            return LOCAL
        if is_open(path):
            return NOBODY
        address, is_local = address_of(request.scope), self._principals.is_local(credentials)
        # Guesses on this machine do not keep its user out; from elsewhere guesses at the user's key are slowed as well.
        if credentials.bearer and not (is_local and is_own_machine(address)):
            self._guesses.require_room(address, credentials.bearer)
        if is_local:
            self._guesses.remember(address, credentials.bearer)
            return LOCAL
        pool = await self._find_pool(request.scope)
        principal = await self._principal(request, pool, credentials)
        await self._principals.count(pool, credentials)
        if path == CLOSE_PATH:
            self._principals.forget(credentials)
        if credentials.session:
            state["csrf_token"] = token_for(credentials.session.encode())
            _refuse_provoked(request)
        return principal

    async def _principal(self, request: Request, pool: Pool, credentials: Credentials) -> Principal:
        """Whose request it is; a wrong key is counted. Raises Unauthenticated."""
        address, key = address_of(request.scope), credentials.bearer
        try:
            principal = await self._principals.find(pool, credentials)
        except Unauthenticated:
            if key:
                self._guesses.add(address, key)
            raise
        if key:
            self._guesses.remember(address, key)
        return principal

    async def _secret_of_pages(self, scope: Scope) -> bytes:
        if not self._page_secret:
            self._page_secret = await shared_secret(await self._find_pool(scope), "pages without a key")
        return self._page_secret

    def _while_valid(self, scope: Scope, credentials: Credentials, send: Send) -> Send:
        """Send as long as the key or the session is valid; a stream may last for hours."""

        async def send_if_valid(message: Message) -> None:
            if message.get("more_body"):
                try:
                    await self._principals.find(await self._find_pool(scope), credentials)
                except Unauthenticated:
                    await send({"type": "http.response.body", "body": b""})
                    raise _KeyEnded from None
            await send(message)

        return send_if_valid


def _stored_nowhere(send: Send) -> Send:
    """Send as `send` does; what an answer holds is of whoever asked, so a cache keeps it only where its route says so."""

    async def send_unstored(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).setdefault("Cache-Control", "no-store")
        await send(message)

    return send_unstored


def path_of(request: Request) -> str:
    """The path by which a request is routed: that of its URL lacks line breaks and tabs, so that an id in it is another."""
    path: str = request.scope["path"]
    return path


async def _require_visible_target(
    find_pool: Callable[[], Awaitable[Pool]], request: Request, principal: Principal
) -> None:
    """Raise NotFound if the path names something that another owner has."""
    if principal.visible_owner is None:
        return
    match find(request.method, path_of(request)):
        case operation, target if operation.is_owned:
            try:
                target_id = UUID(target)
            except ValueError:  # the route says that there is no such thing
                return
            await require_visible(await find_pool(), target_id, principal.visible_owner)


def _require_scope(principal: Principal, request: Request) -> None:
    scope = required_scope(request.method, path_of(request))
    if not principal.may(scope):
        raise ScopeExceeded(
            f"The key {principal.key_name!r} may {principal.scope}; this needs one that may {scope}, which an admin makes."
        )


def _refuse_provoked(request: Request) -> None:
    """Refuse what a page of another origin has a signed-in browser send: its Origin, or the token of our pages, tells."""
    if request.method in SAFE_METHODS:
        return
    origins = request.headers.getlist("origin")
    status = refusal_status(
        request.headers.getlist("host"), origins, scheme=request.url.scheme, has_any_name=True
    )
    is_proven = bool(origins) or has_token(request, request.headers.get(CSRF_HEADER, ""))
    if status or (path_of(request).startswith("/v1/") and not is_proven):
        raise Problem(
            HTTPStatus.FORBIDDEN,
            f"A signed-in browser changes something only from a page of this server: send its Origin or {CSRF_HEADER}.",
        )


def _refuse_other_sites(request: Request) -> None:
    hosts, origins = request.headers.getlist("host"), request.headers.getlist("origin")
    match refusal_status(hosts, origins, scheme=request.scope["scheme"]):
        case HTTPStatus.MISDIRECTED_REQUEST as status:
            raise Problem(status, "Without a key this server answers to localhost, 127.0.0.1 and [::1] only.")
        case HTTPStatus.FORBIDDEN as status:
            raise Problem(status, "Pages of other origins cannot use this server without a key.")


def _refusal(request: Request, error: Exception) -> Response:
    match error:
        case Problem():
            problem = error
        case ChironError():
            problem = problem_of(error)
        case _:
            problem = lost_service_problem(request, error)
    if is_of_page(request):
        from chiron_api.http.page.views import error_page

        return error_page(request, problem)
    return problem.response()


def is_of_page(request: Request) -> bool:
    """Whether a person looks at the answer, rather than a program."""
    return not path_of(request).startswith("/v1/") and "text/html" in request.headers.get("accept", "")
