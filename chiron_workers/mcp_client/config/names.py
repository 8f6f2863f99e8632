"""Names of remote tools: legal for the Messages API, unique, and the same on every worker."""

import hashlib
import re

SLUG_CHARS = 24
NAME_CHARS = 64  # what the Messages API accepts
HASH_CHARS = 6
SEPARATOR = "__"
ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def slug(server: str) -> str:
    """What the names of a server's tools begin with; no two servers share it, and it has no separator in it."""
    clean = re.sub("_{2,}", "_", ILLEGAL.sub("_", server)).strip("_")
    return _marked(clean, server, SLUG_CHARS)


def tool_name(server_slug: str, tool: str) -> str:
    """The name under which a server's tool is offered: `server__tool`."""
    room = NAME_CHARS - len(server_slug) - len(SEPARATOR)
    return f"{server_slug}{SEPARATOR}{_marked(ILLEGAL.sub('_', tool), tool, room)}"


def slug_in(name: str) -> str:
    """The slug in the name of a remote tool, or nothing."""
    found, separator, _ = name.partition(SEPARATOR)
    return found if separator else ""


def _marked(clean: str, original: str, chars_max: int) -> str:
    """A name that had to be changed carries a hash of the original, so that no two become one."""
    if clean == original and 0 < len(clean) <= chars_max:
        return clean
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]
    return f"{clean[: chars_max - HASH_CHARS - 1].rstrip('_')}_{digest}".lstrip("_")
