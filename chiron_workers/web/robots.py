from dataclasses import dataclass

from chiron_workers.documents.charset import UndecodableError, decode
from chiron_workers.documents.sandbox.results import result_adapter
from chiron_workers.web.pinned_http import USER_AGENT_NAME

ROBOTS_BYTES_MAX = 512_000  # RFC 9309, 2.5: at least 500 KiB.


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a robots.txt allows an address, and its Crawl-delay."""

    allows: bool
    pause_s: float = 0


def warm_up() -> None:
    """Evaluate a robots.txt before processes are forked for others."""
    permission = robots_permission(b"User-agent: *\nDisallow: /private/*.html$", "https://example.org/")
    result_adapter(robots_permission).dump_json(permission)


def robots_permission(body: bytes, url: str) -> Permission:
    """Evaluate a robots.txt for an address. Call it in the sandbox: a hostile file takes long to parse."""
    from protego import Protego

    try:
        rules = Protego.parse(decode(body))
    except UndecodableError:  # A binary file has no rules.
        return Permission(allows=True)
    return Permission(rules.can_fetch(url, USER_AGENT_NAME), rules.crawl_delay(USER_AGENT_NAME) or 0)
