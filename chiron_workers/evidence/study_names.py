"""By what a text names a study: a DOI, a title, a journal with its year; and whom it calls authors."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_workers.evidence.dois import dois_within, work_doi

TITLE_WORDS_MIN = 4
TITLE_CHARS_BEFORE = 300  # a journal, in a reference
RESEARCH_CHARS = 150  # around a title, within which a word says that it is one of a study
YEAR_CHARS = 120  # around a journal
WINDOW_CHARS = 20_000  # ten milliseconds
VERSION_LEAD_CHARS = 3_000  # of a text, where it says so; behind them may be a list of others' works
VERSION_CHARS = 300  # behind the words that announce the DOI of another version

_CAPITAL = r"[^\W\d_a-z][\w'’-]{1,30}"  # a word that begins with a capital
_JOURNAL = rf"{_CAPITAL}(?:(?:[ ]&|[ ](?:of|the|and|in|for|on)){{0,2}}[ ]{_CAPITAL}){{0,7}}"
_JOURNALS = re.compile(
    rf"""
    \b(?i:the|in|in[ ]the)[ ]
      (?:(?:peer-reviewed|scientific|medical|academic|leading|open-access|prestigious|online|scholarly|science)[ ]){{0,2}}
      (?:journals?|magazine|Fachzeitschrift|Fachjournal|revue|revista|rivista)[ ][“"'‘]?(?P<named>{_JOURNAL})
    | \b(?i:published|appeared|appears|appearing|reported|reports|printed|out|paper|study|article|letter|writing|writes?|wrote
         |describes?|described|presented|erschienen|erschien|veröffentlicht|publiée?|publicado)
      (?:[ ]\w+,?){{0,4}}?[ ](?:in|im|dans|en)[ ](?:the[ ])?[“"'‘]?(?P<published>{_JOURNAL})
    | \b(?P<known>
        (?:Nature|Science|Cell)(?=[ ](?:paper|study|article))
        | (?:Journal[ ]of|Proceedings[ ]of[ ]the|Annals[ ]of)[ ]{_JOURNAL}
        | PNAS | NEJM | BMJ | JAMA(?:[ ]{_CAPITAL}){{0,3}} | PLO?S[ ]{_CAPITAL}
        | (?:The[ ])?New[ ]England[ ]Journal[ ]of[ ]Medicine
        | (?:The[ ])?Lancet(?:[ ]{_CAPITAL}(?:[ ](?:and|&)[ ]{_CAPITAL})?){{0,3}}
        | (?:Nature|Science)[ ]{_CAPITAL}(?:[ ](?:and|&)[ ]{_CAPITAL})?
        | (?:[A-Z][a-z]+[ ]){{1,4}}(?:Letters|Reviews?|Research|Reports))
    | (?:[,.;]|et[ ]al\.?,?)[ ](?P<cited>{_JOURNAL})[.,]?[ ]?(?:\d[^()\n]{{0,40}})?\((?P<cited_year>(?:19|20)\d\d)\)
    | \b[Ii]n[ ](?:the[ ])?(?P<dated>{_JOURNAL})[ ]\((?P<dated_year>(?:19|20)\d\d)\)
    | \((?P<bracket>{_JOURNAL}),[ ](?P<bracket_year>(?:19|20)\d\d)\)
    """,
    re.VERBOSE,
)
_JOURNAL_GROUPS = ("named", "published", "known", "cited", "dated", "bracket")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TITLE = re.compile(r"[“\"„«](?P<title>[^“”\"„«»\n]{15,300})[”\"“»]")
_CITED_TITLE = re.compile(
    r"(?:et al\.?,?|[A-Z]\.,?|\(\d{4}\)[.,:]?)\s+(?P<title>(?:(?!et al|[A-Z]\.[,\s])[^\n]){15,250})[.,;?!]\s*$"
)
_RESEARCH = re.compile(
    r"\b(?:stud(?:y|ies)|paper|article|report|journal|titled|entitled|called|published|preprint|trial|review|Studie|Arbeit|Titel"
    r"|étude|intitulée?|estudio|titulado|artículo|studio|estudo)\b",
    re.IGNORECASE,
)
_GIVEN_NAMES = (
    rf"(?:(?:Dr|Prof|Professor|Mr|Ms|Mrs|Sir|Dame)\.?[ ])?(?:{_CAPITAL}[ ]|[^\W\d_a-z]\.[ ]?){{0,3}}"
)
_PARTICLES = r"(?:(?:van|von|de|der|den|da|del|la|bin|al)[ ]){0,2}"
_PERSON = rf"{_GIVEN_NAMES}{_PARTICLES}(?P<NAME>{_CAPITAL})"
_AUTHORS = re.compile(
    rf"""
    (?P<first>{_CAPITAL})(?:[ ][A-Z]{{1,3}})?,?[ ]
      (?:et[ ]al\b|and[ ](?:her|his|their|)[ ]?(?:\w+[ ])?(?:colleagues|co-?authors|co-?workers|team)
        |und[ ](?:Kollegen|Mitarbeiter)|y[ ]sus[ ]colegas|et[ ]ses[ ]collègues)
    | \b(?i:led|authored|written|headed|conducted|carried[ ]out|published|study|paper|research|work|Leitung|Studie)[ ]
      (?:(?:by|um|von)[ ])?{_PERSON.replace("NAME", "leader")}
    | \b(?i:author|researcher|scientist|investigator|Erstautorin|Erstautor|Autorin|Autor|physicist|biologist|chemist|geologist
         |glaciologist|ecologist|epidemiologist|astronomer|neuroscientist|psychologist|economist|climatologist|oceanographer
         |physician|hydrologist),?[ ]{_PERSON.replace("NAME", "researcher")}
    | {_PERSON.replace("NAME", "author")},?[ ]
      (?:who[ ]led|(?:the|a)[ ](?:study|paper)['’]?s?[ ](?:lead|first|senior)
        |(?:the[ ])?(?:lead|first|senior|co|corresponding)-?[ ]?(?:author|investigator))
    | {_PERSON.replace("NAME", "member")},?[ ](?:of|from|at)[ ](?:the[ ])?
      (?:University|Institute|{_CAPITAL}[ ](?:University|Institute|College|Center|Centre|Hospital|Observatory))
    | \b(?:Dr|Prof|Professor)\.?[ ]{_PERSON.replace("NAME", "doctor")}
    | (?P<listing>{_CAPITAL}),?[ ][A-Z]\.?(?:[ -]?[A-Z]\.?){{0,2}}(?=[,;.]|[ ](?:&|and)[ ])
    | {_PERSON.replace("NAME", "owner")}['’]s[ ](?:study|paper|team|group|research)
    """,
    re.VERBOSE,
)
_AUTHOR_GROUPS = frozenset({"first", "leader", "author", "listing", "owner"})
_VERSION = re.compile(
    r"now published in|this (?:article|preprint|paper|manuscript) (?:has been|was|is now) (?:peer[- ]reviewed and )?published"
    r"|version of record|related doi|journal reference|published version|published as|preprint (?:of|version)"
    r"|preprint (?:is )?(?:available )?(?:at|doi|server)|this is (?:a|the) preprint of"
    r"|posted (?:as a preprint )?(?:on|at) (?:bioRxiv|medRxiv|arXiv|Research Square|SSRN)",
    re.IGNORECASE,
)
_AUTHORS_APART = re.compile(r";|&| (?:and|und|et|y) ")
_WORD = re.compile(r"\w+")
_JOURNAL_NAMES = {
    "proceedings of the national academy of sciences": "pnas",
    "proceedings of the national academy of sciences of the united states of america": "pnas",
    "nejm": "new england journal of medicine",
    "journal of the american medical association": "jama",
    "british medical journal": "bmj",
}
_ARTICLES = frozenset({"the", "der", "die", "dem", "la", "le", "el"})
_GENRES = frozenset(
    [
        "journal",
        "magazine",
        "fachzeitschrift",
        "zeitschrift",
        "fachjournal",
        "fachmagazin",
        "revue",
        "revista",
    ]
)
_JOINTS = frozenset({"of", "the", "and", "in", "for", "on"})
_DATES = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december
"""
_STARTS = """
    the a an this that these those it he she they we i you in on at by of for from to as and but or so if when while after before
    since because although however both one two many most some all there here his her its our their my what who how why not no
"""
_PLACES = "english german french spanish europe america africa asia china germany france britain london paris"
_OFFICES = """
    university institute college center centre hospital national international new researchers scientists authors team science
    nature school department journal study paper article
"""
_MOMENTS = frozenset(_DATES.split())
_NO_JOURNALS = frozenset(f"{_DATES} {_STARTS} {_PLACES} journal study paper article".split())
_NO_AUTHORS = frozenset(f"{_DATES} {_STARTS} {_OFFICES}".split())


@dataclass(frozen=True, slots=True)
class StudyName:
    """By what a study is named from one character of a text to another; what is empty does not stand there.

    `is_version` where the text says that the DOI is another version of the text itself.
    """

    start: int
    end: int
    doi: str = ""
    title: str = ""
    journal: str = ""
    year: int | None = None
    is_version: bool = False


def study_names(text: str) -> list[StudyName]:
    """All that names a study in a text, in its order.

    It is searched window by window: a regular expression lets no other thread run until it has found something.
    """
    names: list[StudyName] = []
    for first, last in _windows(text):
        names += [*_dois(text, first, last), *_titles(text, first, last), *_journals(text, first, last)]
    return sorted(names, key=lambda name: name.start)


def authors_in(text: str) -> frozenset[str]:
    """The family names, in small letters, of those whom a text calls authors of a study.

    If the text names no authors, the researchers that it quotes.
    """
    authors, speakers = set[str](), set[str]()
    for match in _AUTHORS.finditer(text):
        for group, name in match.groupdict().items():
            surname = re.sub(r"['’]s?$", "", (name or "").casefold())
            if len(surname) > 1 and surname not in _NO_AUTHORS:
                (authors if group in _AUTHOR_GROUPS else speakers).add(surname)
    return frozenset(authors or speakers)


def title_key(title: str) -> str:
    """A title by its words in small letters, to compare it; empty where it is too short to be one work's."""
    words = _WORD.findall(title.casefold())
    return " ".join(words) if len(words) >= TITLE_WORDS_MIN else ""


def journal_key(name: str) -> str:
    """The name of a journal in small letters, without its article; of the many names of some the usual one."""
    words = _WORD.findall(name.casefold().replace("&", " and "))
    while words and (
        words[0] in _ARTICLES or (words[0] in _GENRES and words[1:2] and words[1] not in _JOINTS)
    ):
        words.pop(0)
    dates = [n for n, word in enumerate(words) if n and word in _MOMENTS]
    words = words[: min(dates)] if dates else words  # "Nature on Monday"
    while words and words[-1] in _JOINTS:
        words.pop()
    key = " ".join(words)
    return _JOURNAL_NAMES.get(key, key)


def are_same_journals(first: str, second: str) -> bool:
    """Whether two keys are of one journal; a text may go on in capitals behind its name ("Nature and Dr Solberg")."""
    short, long = sorted((first, second), key=len)
    behind = long.removeprefix(short)
    return (
        bool(short)
        and long.startswith(short)
        and (not behind or (behind[0] == " " and behind.split()[0] in _JOINTS))
    )


def surname_of(author: str) -> str:
    """The family name of an author, or of the first on a line of several, in small letters.

    It stands before a comma or initials, else it is the last word.
    """
    first = _AUTHORS_APART.split(author, maxsplit=1)[0].strip()
    name, comma, _ = first.partition(",")
    words: list[str] = [word for word in re.findall(r"[\w'’-]+", name.casefold()) if len(word) > 1]
    if not words:
        return ""
    is_inverted = not comma and re.fullmatch(r"[\w'’-]+ [A-Z]{1,3}\.?", first)
    return words[0] if is_inverted else words[-1]


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """A text in pieces that end at the end of a line, where there is one."""
    first = 0
    while first < len(text):
        last = min(first + WINDOW_CHARS, len(text))
        line_end = text.rfind("\n", first + 1, last) if last < len(text) else -1
        last = line_end if line_end > 0 else last
        yield first, last
        first = last


def _dois(text: str, first: int, last: int) -> Iterator[StudyName]:
    version_ends = [match.end() for match in _VERSION.finditer(text, first, last)]
    for start, end, doi in dois_within(text[first:last]):
        place = bisect_right(version_ends, first + start)
        is_near = place > 0 and first + start - version_ends[place - 1] <= VERSION_CHARS
        is_version = is_near and first + start < VERSION_LEAD_CHARS
        yield StudyName(first + start, first + end, doi=work_doi(doi), is_version=is_version)


def _titles(text: str, first: int, last: int) -> Iterator[StudyName]:
    for match in _TITLE.finditer(text, first, last):
        before = text[max(0, match.start() - RESEARCH_CHARS) : match.start()]
        behind = text[match.end() : match.end() + RESEARCH_CHARS]
        if (title := title_key(match["title"])) and (_RESEARCH.search(before) or _RESEARCH.search(behind)):
            yield StudyName(*match.span("title"), title=title)


def _journals(text: str, first: int, last: int) -> Iterator[StudyName]:
    for match in _JOURNALS.finditer(text, first, last):
        group = next(name for name in _JOURNAL_GROUPS if match[name])
        journal = journal_key(match[group])
        if not journal or journal.partition(" ")[0] in _NO_JOURNALS:
            continue
        start, end = match.span(group)
        year = match["cited_year"] or match["dated_year"] or match["bracket_year"]
        yield StudyName(
            start,
            end,
            title=_cited_title(text, start) if match["cited"] else "",
            journal=journal,
            year=int(year) if year else _year_near(text, start, end),
        )


def _cited_title(text: str, end: int) -> str:
    """The title between the authors of a reference and its journal; empty where there is none."""
    match = _CITED_TITLE.search(text[max(0, end - TITLE_CHARS_BEFORE) : end])
    return title_key(match["title"]) if match else ""


def _year_near(text: str, start: int, end: int) -> int | None:
    """The year that stands nearest to a name, in its sentence or so."""
    first = max(0, start - YEAR_CHARS)
    around = text[first : end + YEAR_CHARS]
    yearless = _TITLE.sub(lambda match: " " * len(match[0]), around)  # a year in a title is not the study's
    years = [
        (min(abs(first + match.start() - end), abs(start - first - match.end())), int(match[0]))
        for match in _YEAR.finditer(yearless)
    ]
    return min(years)[1] if years else None
