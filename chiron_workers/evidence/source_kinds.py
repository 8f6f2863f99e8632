"""What kind of source an address is, by the patterns of a table, and the band that its score is bound to."""

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chiron_workers.evidence.publishers import web_host
from chiron_workers.states import SourceKind

TABLE = Path(__file__).with_suffix(".toml")
OWN_SCHEMES = ("corpus://", "file://")  # what somebody put there on purpose
BYTES_MAX = 1_000_000
# MISSION M3.2. What nobody knows counts like a general source at most; what is one's own, as its reader finds it.
BANDS = {
    SourceKind.ACADEMIC: (0.9, 1.0),
    SourceKind.OFFICIAL: (0.8, 0.9),
    SourceKind.EXPERT: (0.6, 0.8),
    SourceKind.GENERAL: (0.4, 0.6),
    SourceKind.USER_GENERATED: (0.2, 0.4),
    SourceKind.OWN: (0.0, 1.0),
    SourceKind.UNKNOWN: (0.0, 0.6),
}
LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
STEP = re.compile(r"[^\s/?#]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A host with the hosts below it, and the first steps of a path, in which a star stands for any characters."""

    host: str
    steps: tuple[str, ...]
    kind: SourceKind

    def has_path(self, steps: tuple[str, ...]) -> bool:
        """Whether a path begins with the steps of the pattern."""
        pairs = zip(steps, self.steps, strict=False)
        return len(steps) >= len(self.steps) and all(fnmatchcase(step, pattern) for step, pattern in pairs)


class SourceKinds:
    """A table of patterns. The longest host wins, and of its patterns the longest path."""

    def __init__(self, patterns: Mapping[str, tuple[Pattern, ...]]) -> None:
        self._patterns = patterns

    def kind(self, host: str, steps: tuple[str, ...]) -> SourceKind | None:
        """The kind of the pattern that fits best; None where none does."""
        for suffix in _suffixes(host):
            for pattern in self._patterns.get(suffix, ()):
                if pattern.has_path(steps):
                    return pattern.kind
        return None


@lru_cache(maxsize=8)
def read_table(file: Path) -> SourceKinds:
    """The table of a file: TOML, a list of patterns for each kind. Raises ValueError, with what is wrong where."""
    try:
        with file.open("rb") as source:
            content = source.read(BYTES_MAX + 1)
        if len(content) > BYTES_MAX:
            raise ValueError(f"{file}: has more than {BYTES_MAX:,} bytes")
        table = tomllib.loads(content.decode())
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: is no TOML: {error}") from None
    by_place: dict[tuple[str, tuple[str, ...]], Pattern] = {}
    for pattern in _patterns(file, table):
        twin = by_place.setdefault((pattern.host, pattern.steps), pattern)
        if twin.kind is not pattern.kind:
            text = "/".join((pattern.host, *pattern.steps))
            raise ValueError(
                f"{file}: {text!r} is both {twin.kind} and {pattern.kind}; leave one of them out"
            )
    by_host: dict[str, tuple[Pattern, ...]] = {}
    for pattern in sorted(by_place.values(), key=lambda pattern: -len(pattern.steps)):
        by_host[pattern.host] = (*by_host.get(pattern.host, ()), pattern)
    return SourceKinds(by_host)


def recognise(url: str, table: SourceKinds | None = None) -> SourceKind:
    """The kind of source that an address is. The patterns of `table` go before those that ship.

    Documents of the corpus, files, and what an address of a private network gives are one's own.
    """
    if url.lower().startswith(OWN_SCHEMES):
        return SourceKind.OWN
    host = web_host(url).rstrip(".")
    steps = _steps(url)
    for patterns in (table, read_table(TABLE)):
        if patterns is not None and (kind := patterns.kind(host, steps)):
            return kind
    return SourceKind.OWN if _is_private(host) else SourceKind.UNKNOWN


def with_stated(kind: SourceKind, stated_kind: SourceKind | None) -> SourceKind:
    """The kind of a source whose page says what it is: that counts only where its address tells nothing."""
    return stated_kind if stated_kind and kind is SourceKind.UNKNOWN else kind


def bound(kind: SourceKind, score: float, *, is_stated: bool = False) -> float:
    """A score, moved into the band of its source's kind; where the page says itself what it is, never up."""
    low, high = BANDS[kind]
    return min(score if is_stated else max(score, low), high)


def _patterns(file: Path, table: Mapping[str, object]) -> Iterator[Pattern]:
    for name, entries in table.items():
        if name not in set(SourceKind):
            kinds = ", ".join(SourceKind)
            raise ValueError(f"{file}: {name!r} is no kind of source; the kinds are {kinds}")
        if not isinstance(entries, list):
            problem = 'must be a list of patterns, such as ["example.org/blog"]'
            raise ValueError(f"{file}: {name}: {problem}")  # noqa: TRY004  # the file is wrong, not the call
        for entry in entries:
            yield _pattern(file, SourceKind(name), entry)


def _pattern(file: Path, kind: SourceKind, entry: object) -> Pattern:
    problem = 'must be a host that may have a path, such as "example.org" or "example.org/*/blog"'
    if not isinstance(entry, str):
        raise ValueError(f"{file}: {kind}: {problem} (got {entry!r})")  # noqa: TRY004  # the file is wrong
    host, *steps = entry.removesuffix("/").casefold().split("/")
    name = web_host(f"https://{host}/")
    if set(host) & set(":@?#") or not _is_name(name) or not all(map(STEP.fullmatch, steps)):
        raise ValueError(f"{file}: {kind}: {problem} (got {entry!r})")
    return Pattern(name, tuple(steps), kind)


def _is_name(host: str) -> bool:
    return bool(host) and all(map(LABEL.fullmatch, host.split(".")))


def _suffixes(host: str) -> Iterator[str]:
    """The host, then what stands behind each of its dots; nothing of what is no name, as a browser would read it."""
    if not _is_name(host):
        return
    if _address(host) is not None:
        yield host
        return
    labels = host.split(".")
    for n in range(len(labels)):
        yield ".".join(labels[n:])


def _steps(url: str) -> tuple[str, ...]:
    """The steps of an address's path as its server would walk them, in small letters."""
    try:
        path = posixpath.normpath(unquote(urlsplit(url).path))
    except ValueError:
        return ()
    return tuple(step for step in path.casefold().split("/") if step)


def _is_private(host: str) -> bool:
    address = _address(host)
    return (
        host == "localhost" or host.endswith(".localhost") or (address is not None and not address.is_global)
    )


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
