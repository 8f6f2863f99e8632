"""What every request to Flower passes first: Host and Origin, the password, and that it only reads."""

import base64
import binascii
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler, stream_request_body

from chiron_api.http.origins import refusal_status

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
    """

    user: str
    password: str = field(repr=False)
    has_any_name: bool
    prefix: str = ""

    def refusal(self, request: HTTPServerRequest) -> Refusal | None:
        """Why a request is not passed on, or None."""
        hosts, origins = request.headers.get_list("Host"), request.headers.get_list("Origin")
        status = refusal_status(hosts, origins, scheme=request.protocol, has_any_name=self.has_any_name)
        if status is HTTPStatus.MISDIRECTED_REQUEST:
            return Refusal(status, "Flower answers to localhost, 127.0.0.1 and [::1] only.")
        if status:
            return Refusal(status, "Pages of other origins cannot use Flower.")
        if request.path != self.prefix + HEALTH and not self._has_password(request):
            headers = {"WWW-Authenticate": 'Basic realm="Chiron"'}
            sentence = f"Sign in as {self.user} with the password that `chiron key flower` prints."
            return Refusal(HTTPStatus.UNAUTHORIZED, sentence, headers)
        if request.method not in ("GET", "HEAD") and request.path != self.prefix + READING_POST:
            return Refusal(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "Flower only shows. Use chiron cancel, pause and resume for runs, and signals for workers.",
                {"Allow": "GET, HEAD"},
            )
        return None

    def _has_password(self, request: HTTPServerRequest) -> bool:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            credentials = base64.b64decode(token.strip(), validate=True)
        except (binascii.Error, ValueError):
            return False
        expected = f"{self.user}:{self.password}".encode()
        return scheme.lower() == "basic" and secrets.compare_digest(credentials, expected)


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
