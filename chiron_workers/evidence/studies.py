"""Which studies a text names, and which passages of it tell of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chiron_workers.evidence.study_names import StudyName, are_same_journals, authors_in, study_names

TEXT_CHARS_MAX = 300_000
STUDIES_MAX = 60  # a list of references has more, and none of them is what the text is about
ARTICLE_CHARS_MAX = 20_000  # of an article about a study
STUDIES_OF_ARTICLE = 2  # all that an article about a study names, as it may have two names for it
STUDIES_OF_ARTICLE_MAX = (
    5  # where others are named too, that in the beginning or in the reference is its subject
)
LEAD_CHARS = 1_500
NEAR_CHARS = 400  # around a name, where a text tells of the study
JOIN_CHARS = 300  # within which a DOI, a title and a journal name one study
NAME_CHARS_MAX = 1_500  # of what was joined: a text that repeats a name would be one name
SENTENCE_CHARS = 1_000  # before and behind some words, within which their sentence begins and ends
OWN_PLACE = (-1, -1)  # of a study that does not name itself

_REFERENCE = re.compile(
    r"(?:^|\n)[ \t>*_#-]{0,6}(?:Journal(?: reference)?|More information|References?|Source|DOI|Study|Paper|Publication|Citation"
    r"|Original (?:publication|article|study|paper)|Read (?:more|the)|Full (?:study|paper)|Originalpublikation|Quellen?"
    r"|Zur Studie|Publikation|Référence|Fuente|Fonte|Bron|Provided by|Published in)\b[^\n]{0,400}",
    re.IGNORECASE,
)
_OFFICE = r"(?:ministry|police|mayor|council|government|census|municipality|company|town|city|parliament)"
# By these words an article about a study says that it has something from elsewhere.
_ELSEWHERE = re.compile(
    r"\btold (?:us|me|this (?:newspaper|paper|reporter|magazine)|our (?:reporter|correspondent)s?)\b"
    r"|\btold the (?:\w+ ){1,3}(?:in an interview|by (?:phone|email))"
    r"|\b(?:our|my) (?:own )?(?:reporters?|correspondents?|measurements?|survey|count|analysis|visit|tests?|records)\b"
    r"|\bwe (?:measured|counted|visited|tested|asked|surveyed)\b|\bunrelated to the (?:study|paper|research)\b"
    r"|\b(?:separately|independently),? (?:the|a|an|our)\b|\bnot (?:part of|involved in) the (?:study|research)\b"
    r"|\b(?:a|another) separate (?:study|survey|count)\b|\bspokes(?:man|woman|person)\b|\bin an interview with (?:us|this|our)\b"
    rf"|\b(?:according to|figures (?:from|of)|data (?:from|of)|records (?:from|of)|said|says) the (?:\w+ )?{_OFFICE}\b"
    rf"|\bthe (?:\w+ )?{_OFFICE} (?:said|says|told|reported|reports|announced)\b",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"[ \t]{0,8}(?:\[?\d{1,3}[\].)]|[-*•^↑])[ \t]")  # of a list of references
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")


@dataclass(frozen=True, slots=True)
class Study:
    """A study that a text names: by its DOI, its title, or a journal, authors and a year (None where none stands there).

    It is named from character `start` to `end`, and the text tells of it in `passages`. `is_version` where the text says that the
    DOI is another version of the text itself.
    """

    start: int
    end: int
    doi: str = ""
    title: str = ""
    journal: str = ""
    authors: frozenset[str] = frozenset()
    year: int | None = None
    passages: tuple[tuple[int, int], ...] = ()
    is_version: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the text is the study, and does not name it."""
        return (self.start, self.end) == OWN_PLACE

    def is_named(self, start: int, end: int) -> bool:
        """Whether the study is named between two characters."""
        return start < self.end and self.start < end

    def tells(self, start: int, end: int) -> bool:
        """Whether the text tells of the study from one character to another."""
        return self.is_named(start, end) or any(start < last and first < end for first, last in self.passages)

    def agrees_with(self, study: "Study") -> bool:
        """Whether two names of one text may be of one study: they say nothing different."""
        pairs = ((self.doi, study.doi), (self.title, study.title), (self.journal, study.journal))
        return all(not (name and match) or name == match for name, match in pairs)

    def has_name_of(self, study: "Study") -> bool:
        """Whether two names have one DOI or one title."""
        return bool((self.doi and self.doi == study.doi) or (self.title and self.title == study.title))

    def is_like(self, study: "Study") -> bool:
        """Whether two names in two texts are of one study."""
        if self.doi and study.doi:
            return self.doi == study.doi
        has_shared_author = bool(self.authors & study.authors)
        if self.title and self.title == study.title:
            is_of_others = bool(self.authors and study.authors) and not has_shared_author
            return not (self.is_own and study.is_own and is_of_others)
        if self.is_own and study.is_own:  # an author may have two papers in a journal in a year
            return False
        is_same_year = self.year == study.year or self.year is None or study.year is None
        return has_shared_author and is_same_year and are_same_journals(self.journal, study.journal)


def studies_of(text: str) -> tuple[Study, ...]:
    """The studies that a text names, in its order; of a text that names very many those in its beginning."""
    text = text[:TEXT_CHARS_MAX]
    names = _join(study_names(text))
    if len(names) > STUDIES_MAX:
        names = [name for name in names if name.is_version or name.start < LEAD_CHARS][:STUDIES_MAX]
    subjects = _subjects(text, names)
    # In an article about one study, everyone called an author is an author of that study.
    page_authors = (
        authors_in(text) if subjects and _count_distinct(names) <= STUDIES_OF_ARTICLE else frozenset()
    )
    studies = []
    for name in names:
        near = text[max(0, name.start - NEAR_CHARS) : name.end + NEAR_CHARS]
        authors = (page_authors or authors_in(near)) if name.journal else frozenset()
        studies.append(
            Study(
                name.start,
                name.end,
                name.doi,
                name.title,
                name.journal,
                authors,
                name.year,
                tuple(_passages(text, name, is_subject=name in subjects)),
                name.is_version,
            )
        )
    return tuple(studies)


def as_rows(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """Studies as JSON, without what is empty."""
    rows = []
    for study in studies:
        row: dict[str, Any] = {"place": [study.start, study.end]}
        for name in ("doi", "title", "journal", "year", "is_version"):
            if value := getattr(study, name):
                row[name] = value
        if study.authors:
            row["authors"] = sorted(study.authors)
        if study.passages:
            row["passages"] = [list(passage) for passage in study.passages]
        rows.append(row)
    return rows


def from_rows(rows: Sequence[dict[str, Any]] | None) -> tuple[Study, ...]:
    """The studies of such JSON."""
    return tuple(
        Study(
            row["place"][0],
            row["place"][1],
            row.get("doi", ""),
            row.get("title", ""),
            row.get("journal", ""),
            frozenset(row.get("authors", ())),
            row.get("year"),
            tuple((first, last) for first, last in row.get("passages", ())),
            row.get("is_version", False),
        )
        for row in rows or ()
    )


def _join(names: Sequence[StudyName]) -> list[StudyName]:
    """Join what names one study in one place, such as its journal and its DOI."""
    studies: list[StudyName] = []
    for name in names:
        last = studies[-1] if studies else None
        is_near = last and name.start - last.end <= JOIN_CHARS and name.end - last.start <= NAME_CHARS_MAX
        if last and is_near and _completes(last, name):
            studies[-1] = replace(
                last,
                end=max(last.end, name.end),
                doi=last.doi or name.doi,
                title=last.title or name.title,
                journal=last.journal or name.journal,
                year=last.year or name.year,
                is_version=last.is_version or name.is_version,
            )
        else:
            studies.append(name)
    return studies


def _completes(study: StudyName, name: StudyName) -> bool:
    pairs = ((study.doi, name.doi), (study.title, name.title), (study.journal, name.journal))
    return all(not field or before in ("", field) for before, field in pairs)


def _subjects(text: str, names: Sequence[StudyName]) -> list[StudyName]:
    """The names of the study that an article is about; none of a text that is no article about one."""
    count = _count_distinct(names)
    if not names or len(text) > ARTICLE_CHARS_MAX or count > STUDIES_OF_ARTICLE_MAX:
        return []
    lines = [match.span() for match in _REFERENCE.finditer(text)]
    references = [
        name for name in names if any(first <= name.start < last + NEAR_CHARS for first, last in lines)
    ]
    leading = [name for name in names if name.start < LEAD_CHARS]
    if count > STUDIES_OF_ARTICLE:
        references = references if _count_distinct(references) == 1 else []
        leading = [name for name in leading if _is_same(name, names[0]) and not _is_entry(text, name)]
    return [*leading, *references]


def _count_distinct(names: Sequence[StudyName]) -> int:
    """How many studies are named, each once however often it is; counted as far as that matters."""
    distinct: list[StudyName] = []
    for name in names:
        if len(distinct) > STUDIES_OF_ARTICLE_MAX:
            break
        if not any(_is_same(name, entry) for entry in distinct):
            distinct.append(name)
    return len(distinct)


def _is_same(name: StudyName, entry: StudyName) -> bool:
    return bool(
        (name.doi and name.doi == entry.doi)
        or (name.title and name.title == entry.title)
        or (name.journal and name.journal == entry.journal and not (name.doi and entry.doi))
    )


def _passages(text: str, name: StudyName, *, is_subject: bool) -> Iterator[tuple[int, int]]:
    """Where a text tells of a study: around its name, and in an article about it everywhere.

    Sentences that say that they have something from elsewhere are left out.
    """
    begin, end = (0, len(text)) if is_subject else _near(text, name)
    for match in _ELSEWHERE.finditer(text, begin, end):
        start, behind = _sentence(text, match.start(), match.end())
        if start < name.end and name.start < behind:
            continue
        if begin < start:
            yield begin, start
        begin = max(begin, behind)
    if begin < end:
        yield begin, end


def _near(text: str, name: StudyName) -> tuple[int, int]:
    """From where to where a text tells of a study that it names among others; an entry of a list tells of nothing else."""
    begin, end = max(0, name.start - NEAR_CHARS), min(name.end + NEAR_CHARS, len(text))
    if not _is_entry(text, name):
        return begin, end
    line_start, line_end = text.rfind("\n", 0, name.start) + 1, text.find("\n", name.end)
    return max(begin, line_start), end if line_end < 0 else min(end, line_end)


def _is_entry(text: str, name: StudyName) -> bool:
    """Whether a name stands in an entry of a list."""
    return _ENTRY.match(text, text.rfind("\n", 0, name.start) + 1) is not None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """From where to where the sentence stands that holds some characters."""
    begin, behind = max(0, start - SENTENCE_CHARS), min(len(text), end + SENTENCE_CHARS)
    starts = [place + 1 for sign in _SENTENCE_ENDS if (place := text.rfind(sign, begin, start)) >= 0]
    ends = [place + 1 for sign in _SENTENCE_ENDS if (place := text.find(sign, end, behind)) >= 0]
    return max(starts, default=begin), min(ends, default=behind)
