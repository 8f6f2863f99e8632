"""Names of remote tools: legal for the Messages API, unique, and the same on every worker."""

import hashlib
import re

SLUG_CHARS = 24
NAME_CHARS = 64  # what the Messages API accepts
HASH_CHARS = 6
SEPARATOR = "__"
ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def server_slug(server: str) -> str:
    """The prefix of the names of a server's tools: unique to the server, and without the separator."""
    clean = re.sub("_{2,}", "_", ILLEGAL.sub("_", server)).strip("_")
    return _with_hash(clean, server, SLUG_CHARS)


def tool_name(slug: str, tool: str) -> str:
    """The name under which a server's tool is offered: `server__tool`."""
    chars_max = NAME_CHARS - len(slug) - len(SEPARATOR)
    return f"{slug}{SEPARATOR}{_with_hash(ILLEGAL.sub('_', tool), tool, chars_max)}"


def slug_in(name: str) -> str:
    """The slug in the name of a remote tool, or an empty text."""
    slug, separator, _ = name.partition(SEPARATOR)
    return slug if separator else ""


def _with_hash(clean: str, original: str, chars_max: int) -> str:
    """`clean` where it equals the original; else with a hash of the original, so that no two names become one."""
    if clean == original and 0 < len(clean) <= chars_max:
        return clean
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]
    return f"{clean[: chars_max - HASH_CHARS - 1].rstrip('_')}_{digest}".lstrip("_")
