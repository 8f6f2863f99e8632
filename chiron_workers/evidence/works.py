"""Which work a source is, or tells of: by its numbers, by title and first author, and by the study it names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chiron_workers.evidence.archives import original_address
from chiron_workers.evidence.author_names import AuthorName, author_name
from chiron_workers.evidence.dois import doi_in, doi_of, dois_within, work_doi
from chiron_workers.evidence.publishers import numbers_of
from chiron_workers.evidence.studies import OWN_PLACE, Study
from chiron_workers.evidence.study_names import surname_of, title_key

_ARXIV = "arxiv:"
FIRST_LINES_CHARS = 600
STUDIES_OF_ARTICLE_MAX = 5  # names, of which some are of one study
NAMES_NEARBY_MAX = 5  # of a quote's study, the nearest ones
_PREPRINTS = tuple(
    f"10.{registrant}/" for registrant in (48550, 1101, 64898, 21203, 26434, 31234, 31219, 20944, 2139)
)
_NEWS = ("doi:10.1038/d41586-", "doi:10.1038/nature.2", "doi:10.1126/science.z")
# What sites write behind the title of a page, and arXiv before it.
_TITLE_MARKS = re.compile(r" (?:\||-|–|—|::|·) ")
_CITATION = re.compile(r"\d[^()]*\((?:19|20)\d\d\)")
_JOURNAL_NAME = re.compile(r" (?:The )?[A-Z]\w+(?: [A-Z]\w+)?")  # "Title: Cell"


@dataclass(frozen=True, slots=True)
class Record:
    """What a page says of itself: its title, its authors, the DOI that it states, and the year in which it was published."""

    title: str = ""
    authors: tuple[str, ...] = ()
    doi: str = ""
    year: int | None = None


NO_RECORD = Record()


@dataclass(frozen=True, slots=True)
class Work:
    """The work that a source is or tells of, as far as that is known.

    `numbers` are its DOI and others of its own, `names` all by which it is the same as another source of them. `studies` are
    the work itself and the studies whose results the quote tells. `title` and `author`, its first one, are those by which it is
    the same as another.
    """

    numbers: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    studies: tuple[Study, ...] = ()
    title: str = ""
    author: AuthorName | None = None

    def has_title_and_author_of(self, work: "Work") -> bool:
        """Whether both have one title, and first authors who may be one."""
        authors = self.author, work.author
        return self.title == work.title and bool(authors[0] and authors[1] and authors[0].is_like(authors[1]))

    def study_keys(self) -> Iterator[tuple[str, str]]:
        """What works have in common that tell of one study: a DOI, a title, or an author and how a journal's name begins."""
        for study in self.studies:
            if study.doi:
                yield "doi", study.doi
            if study.title:
                yield "title", study.title
            for author in study.authors if study.journal else ():
                yield author, study.journal.partition(" ")[0]

    def tells_of_same_study(self, work: "Work") -> bool:
        """Whether both name one study, or one of them is the study that the other names; DOIs that differ deny it."""
        dois, others_dois = self._dois(), work._dois()
        if dois and others_dois and dois.isdisjoint(others_dois):
            is_preprint, is_other_preprint = _are_preprints(dois), _are_preprints(others_dois)
            if is_preprint == is_other_preprint:
                return False
        return any(study.is_like(match) for study in self.studies for match in work.studies)

    def _dois(self) -> frozenset[str]:
        return frozenset(study.doi for study in self.studies if study.doi)


def work_of(
    url: str,
    record: Record = NO_RECORD,
    *,
    quote: str | None = None,
    place: tuple[int, int] | None = None,
    studies: tuple[Study, ...] = (),
) -> Work:
    """The work of a source and its quote; `studies` are those that its text names, `place` where the quote stands there."""
    numbers = frozenset(_numbers(url, record.doi))
    names = set(numbers)
    dois = {work_doi(doi) for _, _, doi in dois_within(quote)} if quote and "10." in quote else set()
    if len(dois) == 1:  # a sentence that names two studies tells of both, and makes no one of them
        names |= {f"doi:{doi}" for doi in dois}
    if numbers:
        names |= {f"doi:{study.doi}" for study in studies if study.is_version and study.doi}
    if doi := _leading_doi(numbers, studies):
        names.add(f"doi:{doi}")
    title, surnames = _title(record), list(filter(None, map(surname_of, record.authors)))
    nearby = _told(studies, place, _without_news(numbers), record.year)
    names |= {f"doi:{study.doi}" for study in nearby if study.doi}
    if numbers and not numbers - _without_news(numbers):
        nearby.append(_own_study(numbers, title, frozenset(surnames), studies, record.year))
    author = author_name(record.authors[0]) if title and record.authors else None
    return Work(numbers, frozenset(names), tuple(nearby), title, author)


@lru_cache(maxsize=10_000)
def address_work(url: str) -> str:
    """The DOI or another number of a work that an address names; empty where it names none."""
    return min(_numbers(url, ""), default="")


def _numbers(url: str, stated_doi: str) -> Iterator[str]:
    address = original_address(url)
    named_doi = doi_of(address)
    if doi := (doi_in(stated_doi) if stated_doi else None) or named_doi:
        yield f"doi:{work_doi(doi)}"
    if named_doi and named_doi.startswith(_PREPRINTS):  # whose pages state the journal's, once there is one
        yield f"doi:{work_doi(named_doi)}"
    for number in numbers_of(address):
        yield f"doi:10.48550/arxiv.{number.removeprefix(_ARXIV)}" if number.startswith(_ARXIV) else number


def _leading_doi(numbers: frozenset[str], studies: Sequence[Study]) -> str:
    """The DOI in the first lines of a work whose page states none, or of a text that names too many for an article about one."""
    is_work = numbers and not any(number.startswith("doi:") for number in numbers)
    is_paper = not numbers and len(studies) > STUDIES_OF_ARTICLE_MAX
    if not (is_work or is_paper):
        return ""
    return next((study.doi for study in studies if study.doi and study.start < FIRST_LINES_CHARS), "")


def _own_study(
    numbers: frozenset[str],
    title: str,
    surnames: frozenset[str],
    studies: Sequence[Study],
    year: int | None,
) -> Study:
    """A work as others name it: its DOI, its title, its authors, and the journal that its first lines have."""
    doi = min((number.removeprefix("doi:") for number in numbers if number.startswith("doi:")), default="")
    journal = next(
        (study.journal for study in studies if study.journal and study.start < FIRST_LINES_CHARS), ""
    )
    return Study(*OWN_PLACE, doi, title, journal, surnames, year)


def _are_preprints(dois: frozenset[str]) -> bool:
    return all(doi.startswith(_PREPRINTS) for doi in dois)


def _title(record: Record) -> str:
    """The title of a page to compare it by, without what its site writes around it."""
    title = record.title.strip()
    if title.startswith("[") and "]" in title:  # [2301.00001] of arXiv
        title = title.partition("]")[2]
    parts = [part for part in _TITLE_MARKS.split(title) if title_key(part)]
    # "Phys. Rev. Lett. 1, 1 (2023) - Title"
    title = next((part for part in parts if not _CITATION.search(part)), "")
    main, colon, journal = title.rpartition(":")
    is_journal = bool(colon) and _JOURNAL_NAME.fullmatch(journal) and title_key(main)
    return title_key(main if is_journal else title)


def _without_news(numbers: frozenset[str]) -> frozenset[str]:
    """The numbers without those of news pages, which tell of the works of others."""
    return frozenset(number for number in numbers if not number.startswith(_NEWS))


def _told(
    studies: Sequence[Study], place: tuple[int, int] | None, numbers: frozenset[str], year: int | None
) -> list[Study]:
    """The study whose results stand at a place, under all names that the text has for it.

    A text that is a work itself tells its own results, but where it names another study with them. Where several studies may be
    meant by the nearest name, it has no other one: a review would make them one.
    """
    if place is None:
        return []
    nearby = [study for study in studies if study.tells(*place)]
    if numbers:
        nearby = [study for study in nearby if study.is_named(*place)]
    if not nearby:
        return []
    middle = sum(place) / 2
    nearby.sort(key=lambda study: abs((study.start + study.end) / 2 - middle))
    nearest = nearby[0]
    alike = [study for study in nearby if not study.is_version and study.agrees_with(nearest)]
    if _are_several(study.doi for study in alike) or _are_several(study.title for study in alike):
        alike = [study for study in alike if study is nearest or study.has_name_of(nearest)]
    names = [*(study for study in nearby if study.is_version), *alike]
    distinct: dict[Study, Study] = {}
    for study in names:
        distinct.setdefault(replace(study, start=0, end=0, passages=()), study)
    names = list(distinct.values())[:NAMES_NEARBY_MAX]
    return [replace(study, year=year) if study.year is None else study for study in names]


def _are_several(names: Iterable[str]) -> bool:
    return len(set(filter(None, names))) > 1
