"""The DOI that an address names, where its form says so for certain."""

import re
from urllib.parse import unquote, urlsplit

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#&\"<>\\]+", re.IGNORECASE)
_ARXIV = re.compile(r"/(?:abs|pdf|html)/(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?/?")
_NATURE = re.compile(r"/articles/([a-z]{1,8}[0-9][a-z0-9.-]{3,40}?)(?:\.pdf|_reference\.pdf)?/?")
# What publishers put behind a DOI in their addresses.
_VIEW = re.compile(
    r"(?:/(?:full|abstract|pdf|epdf|html|meta|summary|fulltext|figures|references|v\d+)|\.(?:full|pdf|html?|xml|epub))$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v\d+$")
_PREPRINTS = ("10.1101/", "10.64898/")  # bioRxiv and medRxiv write a version behind their DOIs
_NATURE_PREFIX, _ARXIV_PREFIX = "10.1038/", "10.48550/arxiv."


def doi_of(url: str) -> str | None:
    """The DOI in a web address, in small letters, as DOIs have no case; None where none stands there.

    A DOI as such, as publishers and doi.org have it, and the addresses of arXiv and nature.com, whose DOIs follow from them.
    """
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https"):
        return None
    host = (parts.hostname or "").removeprefix("www.")
    if host == "arxiv.org" and (match := _ARXIV.fullmatch(parts.path)):
        return _ARXIV_PREFIX + match[1]
    text = unquote(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    if match := _DOI.search(text):
        return _bare(match[0].lower())
    if host == "nature.com" and (match := _NATURE.fullmatch(parts.path.lower())):
        return _NATURE_PREFIX + match[1]
    return None


def doi_in(text: str) -> str | None:
    """The first DOI in what a page says of itself, such as "doi:10.1234/x"; None where there is none."""
    match = _DOI.search(text)
    return _bare(match[0].lower()) if match else None


def _bare(doi: str) -> str | None:
    before = ""
    while before != doi:
        before, doi = doi, _VIEW.sub("", doi).rstrip("/.,;:)]")
    if doi.startswith(_PREPRINTS):
        doi = _VERSION.sub("", doi)
    return doi if _DOI.fullmatch(doi) else None
