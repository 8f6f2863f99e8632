"""The DOI of a source: the one that it states for itself, else the one that its address names for certain."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qsl, unquote

from chiron_workers.public_addresses import url_parts

# Crossref's advice on what DOIs there are, with the signs of SICIs (< > ; #); braces and quotes stand around them in texts.
_DOI = re.compile(r"(?<![\w.%-])10\.\d{4,9}(?:\.\d+)*/[^\s\"{}\\^|`]+", re.ASCII)
_VALUE = re.compile(r"\s*(?:(?:info:)?doi[:/]\s*|https?://(?:dx\.|www\.)?doi\.org/)?(?=10\.)", re.IGNORECASE)
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org", "www.doi.org"})
# A parameter that names what a page shows; others hold a search query or a referrer.
_PARAMETERS = re.compile(r"id|uri|key|article(?:_?id)?|paper|.*doi.*", re.IGNORECASE)
_ARXIV = re.compile(
    r"/(?:abs|pdf|html|format|e-print)/(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?/?"
)
_NATURE = re.compile(
    r"/articles/((?:[a-z]{1,8}[0-9][a-z0-9.-]{3,40}?)|\d{4,9}(?:[a-z]\d)?)(?:\.e?pdf|_reference\.pdf)?"
    r"(?:/(?:figures|tables|metrics).*)?/?"
)
_ZENODO = re.compile(r"/records?/(\d+)\b")
_ZENODO_BADGE = re.compile(r"/badge/doi/(10\.\d{4,9}/.+)\.svg", re.IGNORECASE)
DOI_CHARS_MAX = 300  # the longest of Crossref have 230
VIEWS_MAX = 5  # behind one DOI
# What publishers put behind a DOI in their addresses.
_VIEW = re.compile(
    r"(?:/(?:full|full-?text|full-?html|abstract|abs|e?pdf|pdfdirect|epub|ampdf|html?|xml|meta|summary|metrics|citedby|citations"
    r"|references|related|suppl?info|supplementary[\w-]*|otherversions|download|export|share|comments?)"
    r"|/(?:figures?|tables?|suppl_file|suppl|assets?|media|xml)(?:/.*)?"
    r"|\.(?:full|full-text|short|long|abstract|e?pdf(?:\+html)?|html?|xml|epub|article-info|article-metrics|supplementary-material)"
    r"|;jsessionid=.*)$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v\d+(?:[./].*)?$")  # and files of that version
_PREPRINTS = ("10.1101/", "10.64898/")  # bioRxiv and medRxiv write a version behind their DOIs
_PATH_VERSION = re.compile(r"/v\d+$")
_RESEARCH_SQUARE = "10.21203/"  # Research Square gives each version a DOI of its own
# Silverchair, where Oxford and many societies publish, has a number of its own and the title behind a DOI.
_SILVERCHAIR = re.compile(
    r"/article(?:-\w+)?/doi/(10\.[^/]+/[^/]+(?:/[^/]*[^/\d][^/]*)?)/\d+(?:/.*)?$", re.IGNORECASE
)
# Registrants that give each version a DOI of its own, or one to each table and figure, and how these end.
_EDITIONS = re.compile(
    r"(?P<work>10\.(?:21203|20944|26434|33774|31219|31234|31235|35542|36227|6084|7554|12688|1101|64898|17605)/.+?)"
    r"(?:[./_-]v\d+|(?<=\d)\.\d{1,2})"
    r"|(?P<article>10\.1371/journal\.[a-z]+\.\d+|10\.7717/peerj(?:-cs)?\.\d+)[./](?:[gts]\d+|fig-\d+|table-\d+|supp-\d+)",
    re.IGNORECASE,
)
# What stands in each address that names a DOI or from which one follows; most have none of it, and are not taken apart. White
# space within an address counts for nothing, so it may part these letters.
_TRACE = re.compile(r"10\.|%|arxiv|zenodo|nature|[\t\r\n]", re.IGNORECASE)
_BRACKETS = {")": "(", "]": "[", ">": "<"}


def doi_of(url: str) -> str | None:
    """The DOI in a web address, in small letters, as DOIs have no case; None where none stands there.

    A DOI as such, as publishers and doi.org have it, and the addresses of arXiv, nature.com and Zenodo, whose DOIs follow from
    them.
    """
    doi = _written(url)
    return doi.lower() if doi else None


def doi_in(text: str) -> str | None:
    """The first DOI in what a page says of itself, such as "doi:10.1234/x", in small letters; None where there is none."""
    doi = _stated(text)
    return doi.lower() if doi else None


def doi_of_source(url: str, statement: str) -> str:
    """The DOI of a source in its own spelling: what it states, else what its address names; empty where neither does."""
    return _stated(statement) or _written(url) or ""


def dois_within(text: str) -> Iterator[tuple[int, int, str]]:
    """The DOIs that stand in a text, in small letters, each with the characters from where to where it stands."""
    for match in _DOI.finditer(text):
        if doi := _trim(match[0][:DOI_CHARS_MAX]):
            yield match.start(), match.start() + len(doi), doi.lower()


def work_doi(doi: str) -> str:
    """The DOI of a work, in small letters: without the version, the figure or the table that a DOI of its own names."""
    match = _EDITIONS.fullmatch(doi)
    return ((match["work"] or match["article"]) if match else doi).lower()


def _stated(text: str) -> str | None:
    if not text:  # as of most sources
        return None
    match = _DOI.search(unescape(_unquote(text)))
    return _trim(match[0][:DOI_CHARS_MAX]) if match else None


def _written(url: str) -> str | None:
    if not _TRACE.search(url):
        return None
    parts = url_parts(url)
    host = (parts.hostname or "").lower()
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    if doi := _derived(host.removeprefix("www."), parts.path):
        return doi
    path = _unquote(parts.path)
    if host in _DOI_HOSTS:
        match = _DOI.match(path, 1)
        return _without_version(_strip(match[0][:DOI_CHARS_MAX])) if match else None
    if match := _SILVERCHAIR.search(path):
        return _trim(match[1][:DOI_CHARS_MAX])
    matches = (_DOI.search(words) for words in (path, *_values(parts.query)))
    return next(filter(None, (_without_views(match[0]) for match in matches if match)), None)


def _derived(host: str, path: str) -> str:
    """The DOI that follows from an address in which it does not stand."""
    if (host == "arxiv.org" or host.endswith(".arxiv.org")) and (match := _ARXIV.fullmatch(path)):
        return f"10.48550/arXiv.{match[1]}"
    if host == "zenodo.org" and (match := _ZENODO.search(path)):
        return f"10.5281/zenodo.{match[1]}"
    if host == "zenodo.org" and (match := _ZENODO_BADGE.fullmatch(path)):
        return match[1]
    if host == "nature.com" and (match := _NATURE.fullmatch(path.lower())):
        return f"10.1038/{match[1]}"
    return ""


def _values(query: str) -> Iterator[str]:
    for name, value in parse_qsl(query):
        if _PARAMETERS.fullmatch(name) and (start := _VALUE.match(_unquote(value))):
            yield _unquote(value)[start.end() :]


def _without_views(words: str) -> str | None:
    """A DOI of an address, without what stands behind it there."""
    doi = words[:DOI_CHARS_MAX]
    for _ in range(VIEWS_MAX):
        doi = _strip(_VIEW.sub("", doi))
        if not doi.startswith(_RESEARCH_SQUARE):
            doi = _PATH_VERSION.sub("", doi)
    return _trim(doi)


def _trim(words: str) -> str | None:
    doi = _without_version(_strip(words))
    return doi if _DOI.fullmatch(doi) else None


def _without_version(doi: str) -> str:
    return _VERSION.sub("", doi) if doi.startswith(_PREPRINTS) else doi


def _strip(doi: str) -> str:
    """Without the signs of the sentence or the markup behind it: a bracket that closes one of the DOI stays."""
    while True:
        bare = doi.rstrip("/.,;:&?!'*#")
        if (opening := _BRACKETS.get(bare[-1:])) and bare.count(bare[-1]) > bare.count(opening):
            bare = bare[:-1]
        if bare == doi:
            return doi
        doi = bare


def _unquote(text: str) -> str:
    """Decoded, also where it was encoded twice."""
    once = unquote(text)
    return unquote(once) if "%" in once else once
