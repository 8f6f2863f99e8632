"""Who says so: sources that are independent of one another."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from chiron_workers.evidence.copies import WORD, Sketch, copy_pairs
from chiron_workers.evidence.publishers import carries_works, origin_name, states_owner, upload_address
from chiron_workers.evidence.studies import Study
from chiron_workers.evidence.works import NO_RECORD, Record, address_work, work_of
from chiron_workers.states import SourceKind

ASSERTIONS_MAX = 200
PASSAGE_WORDS_MIN = 12  # two authors hardly write as many in the same order
PASSAGE_CHARS_MIN = 24  # the same for scripts without spaces, where each character counts as a word


@dataclass(frozen=True, slots=True)
class Assertion:
    """That a source says so.

    `sketch` is that of its text, None where the text was never read, and `place` where the quote stands there. `record` is what
    the page says of itself, and `studies` those that it names.
    """

    url: str
    score: float
    is_verified: bool
    sketch: bytes | None = None
    quote: str | None = None
    kind: SourceKind = SourceKind.UNKNOWN
    place: tuple[int, int] | None = None
    record: Record = NO_RECORD
    studies: tuple[Study, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Sources that count as one: of one work, of one publisher, or copies of one text.

    `score` and `kind` are those of the best, and `ties` say why they are one.
    """

    names: tuple[str, ...]
    urls: tuple[str, ...]
    score: float
    kind: SourceKind
    ties: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{' = '.join(self.names)}, {self.kind.words}"


def group_origins(assertions: Sequence[Assertion]) -> tuple[Origin, ...]:
    """The independent origins of what is asserted, the most trusted first.

    One are those of one work or about one study, copies of one text, then those of one publisher, account or domain. Of very
    many assertions the most trusted of each publisher are looked at, then the second ones, and so on.
    """
    if len(assertions) <= 1:  # as most facts have it, and nothing to compare
        return tuple(
            Origin((origin_name(only.url),), (only.url,), only.score, only.kind) for only in assertions
        )
    trusted_first = sorted(assertions, key=lambda assertion: -assertion.score)
    trusted_first = _names_in_turn(trusted_first)[:ASSERTIONS_MAX]
    groups: dict[int, list[int]] = defaultdict(list)
    merger = _Merger(trusted_first)
    for n in range(len(trusted_first)):
        groups[merger.root(n)].append(n)
    origins = []
    for places in groups.values():
        group = [trusted_first[n] for n in places]
        best = max(group, key=lambda assertion: assertion.score)
        origins.append(
            Origin(
                names=tuple(dict.fromkeys(merger.names[n] for n in places)),
                urls=tuple(dict.fromkeys(assertion.url for assertion in group)),
                score=best.score,
                kind=best.kind,
                ties=tuple(dict.fromkeys(tie for n in places for tie in merger.ties[n])),
            )
        )
    return tuple(sorted(origins, key=lambda origin: (-origin.score, origin.names)))


def address_origin(url: str) -> str:
    """The origin that an address alone tells: a work's number where its host carries works, else who publishes there."""
    return (carries_works(url) and address_work(url)) or origin_name(url)


def _names_in_turn(assertions: Sequence[Assertion]) -> list[Assertion]:
    """The first assertion of each origin, then the second of each: a domain of many pages pushes nobody out."""
    counts: Counter[str] = Counter()
    turns = []
    for assertion in assertions:
        name = address_origin(assertion.url)
        turns.append(counts[name])
        counts[name] += 1
    return [assertions[n] for n in sorted(range(len(assertions)), key=turns.__getitem__)]


class _Merger:
    """Which assertions are of one origin. Same work goes before same publisher: two works of one publisher stay two."""

    def __init__(self, assertions: Sequence[Assertion]) -> None:
        self._assertions = assertions
        self._parents = list(range(len(assertions)))
        self.works = [
            work_of(item.url, item.record, quote=item.quote, place=item.place, studies=item.studies)
            for item in assertions
        ]
        self.names = [_owner(item) for item in assertions]
        self.ties: list[list[str]] = [[] for _ in assertions]
        for pairs, tie in (
            (self._same_names(), "the same work"),
            (self._same_titles(), "the same work"),
            (self._same_studies(), "the same study"),
            (self._same_texts(), "the same text"),
        ):
            for n, m in pairs:
                self._join(n, m, tie)
        self._join_publishers()

    def root(self, n: int) -> int:
        """The number of an assertion's origin."""
        while self._parents[n] != n:
            n = self._parents[n]
        return n

    def _join(self, n: int, m: int, tie: str) -> None:
        first, second = self.root(n), self.root(m)
        if first != second:
            self._parents[max(first, second)] = min(first, second)
            self.ties[n].append(tie)

    def _same_names(self) -> Iterator[tuple[int, int]]:
        first: dict[str, int] = {}
        for n, work in enumerate(self.works):
            for name in sorted(work.names):
                yield n, first.setdefault(name, n)

    def _same_titles(self) -> Iterator[tuple[int, int]]:
        places: dict[str, list[int]] = defaultdict(list)
        for n, work in enumerate(self.works):
            if work.title and work.author:
                places[work.title].append(n)
        for several in places.values():
            for m, n in combinations(several, 2):
                if self.works[n].has_title_and_author_of(self.works[m]):
                    yield n, m

    def _same_studies(self) -> Iterator[tuple[int, int]]:
        places: dict[tuple[str, str], list[int]] = defaultdict(list)
        for n, work in enumerate(self.works):
            for key in sorted(set(work.study_keys())):
                places[key].append(n)
        pairs = {pair for several in places.values() for pair in combinations(several, 2)}
        for m, n in sorted(pairs):
            if self.root(n) != self.root(m) and self.works[n].tells_of_same_study(self.works[m]):
                yield n, m

    def _same_texts(self) -> Iterator[tuple[int, int]]:
        yield from _quotation_pairs([_passage(item.quote) for item in self._assertions])
        sketches = [Sketch.of(item.sketch) if item.sketch else None for item in self._assertions]
        yield from copy_pairs(sketches, [item.place for item in self._assertions])

    def _join_publishers(self) -> None:
        """Join what is left by publisher, account or domain.

        A work on a host of works stands for itself, and so does what was joined to another publisher's. What is neither
        goes with the most trusted of its publisher.
        """
        names: dict[int, set[str]] = defaultdict(set)
        apart: set[int] = set()
        for n, name in enumerate(self.names):
            names[self.root(n)].add(name)
            if self._stands_apart(n):
                apart.add(self.root(n))
        apart |= {root for root, members in names.items() if len(members) > 1}
        first: dict[str, int] = {}
        tie = "the same publisher"
        for n, name in enumerate(self.names):
            if self.root(n) not in apart:
                self._join(n, first.setdefault(name, n), tie)
        for n, name in enumerate(self.names):
            if name in first and self.root(n) in apart:
                self._join(first.pop(name), n, tie)

    def _stands_apart(self, n: int) -> bool:
        """Whether a source is a work of its own on a host of works, and its publisher tells nothing: whose it is would."""
        url = self._assertions[n].url
        host = _host_of_owner(url)
        is_owned = states_owner(host) and self.names[n] != origin_name(host)
        return bool(self.works[n].numbers) and carries_works(url) and not is_owned


def _owner(assertion: Assertion) -> str:
    """Who published a source: as its address tells, or on hosts that say so the first whom its page names."""
    host = _host_of_owner(assertion.url)
    name = origin_name(host)
    if "/" in name or not assertion.record.authors or not states_owner(host):
        return name
    family, _, given = assertion.record.authors[0].casefold().partition(",")
    return f"{name}/{''.join(WORD.findall(f'{given} {family}'))}"


def _host_of_owner(url: str) -> str:
    """The address whose host tells who published a source: where it was uploaded if its DOI says so, else its own."""
    number = address_work(url) if carries_works(url) else ""
    return upload_address(number.removeprefix("doi:")) or url


def _passage(quote: str | None) -> str:
    """The words of a quote that is too long to be written twice."""
    words = WORD.findall((quote or "").casefold())
    signs = sum(len(word) == 1 for word in words)
    words_min = PASSAGE_CHARS_MIN if signs > len(words) // 2 else PASSAGE_WORDS_MIN
    return f" {' '.join(words)} " if len(words) >= words_min else ""


def _quotation_pairs(passages: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The pairs of which one quotes what the other quotes, or more of it."""
    first: dict[str, int] = {}
    for n, passage in enumerate(passages):
        if passage:
            yield n, first.setdefault(passage, n)
    for (passage, n), (quotation, m) in combinations(first.items(), 2):
        if passage in quotation or quotation in passage:
            yield max(n, m), min(n, m)
