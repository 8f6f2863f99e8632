"""Who says so: sources that are independent of one another."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from chiron_workers.evidence.copies import are_copies


@dataclass(frozen=True, slots=True)
class Assertion:
    """That a source says so. `signature` is the MinHash of its text, None where the text was never read."""

    url: str
    score: float
    is_verified: bool
    signature: bytes | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Sources that count as one: of one registrable domain, or copies of one text. `score` is that of the best."""

    names: tuple[str, ...]
    urls: tuple[str, ...]
    score: float

    def __str__(self) -> str:
        return " = ".join(self.names)


def origins(assertions: Sequence[Assertion]) -> tuple[Origin, ...]:
    """The independent origins of what is asserted, the most trusted first."""
    groups: list[list[Assertion]] = []
    for assertion in assertions:
        akin = [group for group in groups if any(_is_one(assertion, other) for other in group)]
        groups = [group for group in groups if group not in akin]
        groups.append([other for group in akin for other in group] + [assertion])
    found = [
        Origin(
            names=tuple(dict.fromkeys(origin_name(one.url) for one in group)),
            urls=tuple(dict.fromkeys(one.url for one in group)),
            score=max(one.score for one in group),
        )
        for group in groups
    ]
    return tuple(sorted(found, key=lambda origin: (-origin.score, origin.names)))


def origin_name(url: str) -> str:
    """The registrable domain of an address, by the Public Suffix List: `bbc.co.uk`, `alice.github.io`.

    A numeric address or a single name stands for itself, and so does a file or a document of one's own: each is a
    source apart.
    """
    parts = urlsplit(url) if url.lower().startswith(("http://", "https://")) else None
    host = (parts.hostname or "") if parts else ""
    if not host:
        return url
    return host if _is_numeric(host) else _suffixes().privatesuffix(host.rstrip(".")) or host


def _is_one(one: Assertion, other: Assertion) -> bool:
    if origin_name(one.url) == origin_name(other.url):
        return True
    return bool(one.signature and other.signature) and are_copies(
        one.signature or b"", other.signature or b""
    )


def _is_numeric(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
