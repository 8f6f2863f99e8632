"""What every request to Flower passes first: Host and Origin, the password, and that it only reads."""

import base64
import binascii
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler, stream_request_body

from chiron_api.http.guesses import Guesses, is_own_machine
from chiron_api.http.origins import refusal_status
from chiron_api.http.proxies import TrustedProxies
from chiron_workers.errors import RateExceeded

HEALTH = "/healthcheck"  # says only that Flower runs, to container engines and load balancers
READING_POST = "/tasks/datatable"  # how Flower's own page asks for the list of tasks


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that Flower does not get to see."""

    status: HTTPStatus
    sentence: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides about requests.

    Args:
        user: Whom the password belongs to.
        has_any_name: Whether Flower listens beyond this machine, and so may be called by any name.
        prefix: Of all paths, without a slash at its end.
        proxies: Whose headers say who sends a request, and how.
        guesses: Wrong passwords by address.
    """

    user: str
    password: str = field(repr=False)
    has_any_name: bool
    prefix: str = ""
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    guesses: Guesses = field(default_factory=Guesses)

    def refusal(self, request: HTTPServerRequest) -> Refusal | None:
        """Why a request is not passed on, or None."""
        hosts, origins = request.headers.get_list("Host"), request.headers.get_list("Origin")
        status = refusal_status(hosts, origins, scheme=self._scheme(request), has_any_name=self.has_any_name)
        if status is HTTPStatus.MISDIRECTED_REQUEST:
            return Refusal(status, "Flower answers to localhost, 127.0.0.1 and [::1] only.")
        if status:
            return Refusal(status, "Pages of other origins cannot use Flower.")
        if request.path != self.prefix + HEALTH and (refusal := self._refusal_of_stranger(request)):
            return refusal
        if request.method not in ("GET", "HEAD") and request.path != self.prefix + READING_POST:
            return Refusal(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "Flower only shows. Use chiron cancel, pause and resume for runs, and signals for workers.",
                {"Allow": "GET, HEAD"},
            )
        return None

    def _scheme(self, request: HTTPServerRequest) -> str:
        forwarded_proto = request.headers.get("X-Forwarded-Proto", "")
        return self.proxies.scheme(request.remote_ip or "", request.protocol, forwarded_proto)

    def _refusal_of_stranger(self, request: HTTPServerRequest) -> Refusal | None:
        """The refusal of a request without the password; a wrong one is counted, as the API counts wrong keys."""
        forwarded_for = request.headers.get_list("X-Forwarded-For")
        address = self.proxies.client(request.remote_ip or "", forwarded_for)
        credentials = request.headers.get("Authorization", "")
        has_password = self._has_password(credentials)
        if credentials and not (has_password and is_own_machine(address)):
            try:
                self.guesses.require_room(address, credentials)
            except RateExceeded as error:
                headers = {"Retry-After": str(error.retry_after_s)}
                return Refusal(HTTPStatus.TOO_MANY_REQUESTS, str(error), headers)
        if has_password:
            self.guesses.remember(address, credentials)
            return None
        if credentials:
            self.guesses.add(address, credentials)
        return Refusal(
            HTTPStatus.UNAUTHORIZED,
            f"Sign in as {self.user} with the password that `chiron key flower` prints.",
            {"WWW-Authenticate": 'Basic realm="Chiron"'},
        )

    def _has_password(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        try:
            credentials = base64.b64decode(token.strip(), validate=True)
        except (binascii.Error, ValueError):
            return False
        secret = f"{self.user}:{self.password}".encode()
        return scheme.lower() == "basic" and secrets.compare_digest(credentials, secret)


@stream_request_body
class RefusalHandler(RequestHandler):
    """Answers before the body of the request is read."""

    def initialize(self, refusal: Refusal) -> None:  # tornado calls it
        """Take what is to be answered."""
        self.refusal = refusal

    def check_xsrf_cookie(self) -> None:
        """Nothing: what is refused needs no cookie."""

    def prepare(self) -> None:
        """Answer."""
        self.set_status(self.refusal.status.value)
        for name, value in self.refusal.headers.items():
            self.set_header(name, value)
        self.set_header("Content-Type", "text/plain; charset=UTF-8")
        self.set_header("Connection", "close")
        self.finish(f"{self.refusal.sentence}\n")

    def data_received(self, chunk: bytes) -> Any:
        """Nothing: the connection is closed after the answer."""
