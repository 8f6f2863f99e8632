"""Who says so: sources that are independent of one another."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from chiron_workers.evidence.copies import WORD, copy_pairs
from chiron_workers.states import SourceKind

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

ASSERTIONS_MAX = 200
PASSAGE_WORDS_MIN = 12  # two authors hardly write as many in the same order


@dataclass(frozen=True, slots=True)
class Assertion:
    """That a source says so. `signature` is the MinHash of its text, None where the text was never read."""

    url: str
    score: float
    is_verified: bool
    signature: bytes | None = None
    quote: str | None = None
    kind: SourceKind = SourceKind.UNKNOWN


@dataclass(frozen=True, slots=True)
class Origin:
    """Sources that count as one: of one registrable domain, or copies of one text. `score` and `kind` are those of the best."""

    names: tuple[str, ...]
    urls: tuple[str, ...]
    score: float
    kind: SourceKind

    def __str__(self) -> str:
        return f"{' = '.join(self.names)}, {self.kind.words}"


def group_origins(assertions: Sequence[Assertion]) -> tuple[Origin, ...]:
    """The independent origins of what is asserted, the most trusted first.

    One are those of one registrable domain, copies of one text, and those that quote the same long passage. Of very
    many assertions the most trusted of each domain are looked at, then the second ones, and so on.
    """
    if len(assertions) <= 1:  # as most facts have it, and nothing to compare
        return tuple(
            Origin((origin_name(only.url),), (only.url,), only.score, only.kind) for only in assertions
        )
    trusted_first = sorted(assertions, key=lambda assertion: -assertion.score)
    trusted_first = _domains_in_turn(trusted_first)[:ASSERTIONS_MAX]
    groups: dict[int, list[Assertion]] = defaultdict(list)
    for assertion, group in zip(trusted_first, _groups(trusted_first), strict=True):
        groups[group].append(assertion)
    origins = [
        Origin(
            names=tuple(dict.fromkeys(origin_name(assertion.url) for assertion in group)),
            urls=tuple(dict.fromkeys(assertion.url for assertion in group)),
            score=(best := max(group, key=lambda assertion: assertion.score)).score,
            kind=best.kind,
        )
        for group in groups.values()
    ]
    return tuple(sorted(origins, key=lambda origin: (-origin.score, origin.names)))


@lru_cache(maxsize=10_000)
def origin_name(url: str) -> str:
    """The registrable domain of an address, by the Public Suffix List: `bbc.co.uk`, `alice.github.io`.

    A numeric address or a single name stands for itself, and so does a file or a document of one's own: each is a
    source apart.
    """
    host = web_host(url)
    if not host:
        return url
    return host if _is_numeric(host) else _suffixes().privatesuffix(host.rstrip(".")) or host


def _domains_in_turn(assertions: Sequence[Assertion]) -> list[Assertion]:
    """The first assertion of each origin, then the second of each: a domain of many pages pushes nobody out."""
    counts: Counter[str] = Counter()
    turns = []
    for assertion in assertions:
        name = origin_name(assertion.url)
        turns.append(counts[name])
        counts[name] += 1
    return [assertions[n] for n in sorted(range(len(assertions)), key=turns.__getitem__)]


def _groups(assertions: Sequence[Assertion]) -> list[int]:
    """For each assertion the number of its origin."""
    group = list(range(len(assertions)))
    first: dict[object, int] = {}

    def root(n: int) -> int:
        while group[n] != n:
            n = group[n]
        return n

    for n, assertion in enumerate(assertions):
        for key in (("name", origin_name(assertion.url)), ("passage", _passage(assertion.quote))):
            if key[1]:
                group[root(n)] = root(first.setdefault(key, n))
    with_text = [n for n, assertion in enumerate(assertions) if assertion.signature]
    for copy, copied_from in copy_pairs([assertions[n].signature or b"" for n in with_text]):
        group[root(with_text[copy])] = root(with_text[copied_from])
    return [root(n) for n in range(len(assertions))]


def _passage(quote: str | None) -> tuple[str, ...]:
    """The words of a quote that is too long to be written twice."""
    words = tuple(WORD.findall((quote or "").casefold()))
    return words if len(words) >= PASSAGE_WORDS_MIN else ()


def web_host(url: str) -> str:
    """The host of a web address in ASCII, as a browser would ask for it; empty for anything else."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    try:
        host = urlsplit(url).hostname or ""
        if host.isascii():
            return host
        import idna

        return idna.encode(host, uts46=True).decode()
    except ValueError:  # UnicodeError of idna, too
        return ""


def _is_numeric(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
