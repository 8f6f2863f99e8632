from dataclasses import dataclass

from chiron_workers.documents.charset import UndecodableError, decode
from chiron_workers.web.pinned_http import AGENT

BYTES_MAX = 512_000  # RFC 9309 asks for 500 KiB at least


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a robots.txt lets an address be fetched, and the pause it wants between two requests."""

    allows: bool
    pause_s: float = 0


def robots_permission(body: bytes, url: str) -> Permission:
    """What a robots.txt says of an address. A hostile one takes long to parse: do it in the sandbox."""
    from protego import Protego

    try:
        rules = Protego.parse(decode(body))
    except UndecodableError:  # as if it were empty, like any line that says nothing
        return Permission(allows=True)
    return Permission(rules.can_fetch(url, AGENT), rules.crawl_delay(AGENT) or 0)
