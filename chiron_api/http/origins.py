"""Who sends a request, as its Host and Origin say: any web page can make a browser send to servers of its own machine."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

from chiron_api.local_stack.ports import is_loopback

PORTS = {"http": 80, "https": 443}
ORIGIN = re.compile(r"(https?)://[^/?#@\\\s,]+", re.ASCII | re.IGNORECASE)

Origin = tuple[str, str, int]


def refusal_status(
    hosts: Sequence[str], origins: Sequence[str], *, scheme: str, has_any_name: bool = False
) -> HTTPStatus | None:
    """421 for a name that is not this machine's (DNS rebinding), 403 for a page of another origin, None for neither.

    Args:
        hosts: Every Host header; there must be one.
        origins: Every Origin header. Each must be the server's own by scheme, host and port.
        scheme: Of the request.
        has_any_name: Whether the server may be called by other names than those of this machine.
    """
    own = _origin(f"{scheme}://{hosts[0]}") if len(hosts) == 1 else None
    if own is None or not (has_any_name or is_loopback(own[1])):
        return HTTPStatus.MISDIRECTED_REQUEST
    if any(_origin(origin) != own for origin in origins):
        return HTTPStatus.FORBIDDEN
    return None


def _origin(text: str) -> Origin | None:
    if not ORIGIN.fullmatch(text):
        return None
    try:
        parts = urlsplit(text)
        return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]
    except ValueError:
        return None
