"""What a page says of itself in its metadata: its DOI, and whether it is a publication or a post of a forum."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.json_ld import things_of
from chiron_workers.states import SourceKind

DOI_CHARS_MAX = 300
METAS_MAX = 500
DOI_NAMES = (
    "citation_doi",
    "prism.doi",
    "bepress_citation_doi",
    "dc.identifier.doi",
    "dc.identifier",
    "dcterms.identifier",
)
VENUES = ("citation_journal_title", "citation_conference_title", "prism.publicationname")
FORUM_TYPES = frozenset({"DiscussionForumPosting", "QAPage", "Question", "Comment", "SocialMediaPosting"})
PUBLICATION_TYPES = frozenset({"ScholarlyArticle", "MedicalScholarlyArticle"})
FORUM_SOFTWARE = re.compile(
    r"\b(?:discourse|phpbb|vbulletin|xenforo|mybb|flarum|nodebb|invision community|simple machines|smf|vanilla forums|askbot"
    r"|lemmy|mastodon)\b",
    re.IGNORECASE,
)
IDENTIFIER = re.compile(r"\b10\.\d{4,9}/\S", re.ASCII)


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The DOI as the page has it, empty where it has none, and the kind of source it says it is."""

    doi: str = ""
    kind: SourceKind | None = None


def read_metadata(tree: Any) -> PageMetadata:
    """The metadata of a page's tree.

    A publication has a DOI and the name of a journal or of proceedings, or says so by schema.org; that makes it `expert`, since
    anybody can write that into a page. Whoever says to be a forum is believed first: nobody gains by it.
    """
    metas = _metas(tree)
    types = set(_types(tree))
    doi = next((metas[name] for name in DOI_NAMES if IDENTIFIER.search(metas.get(name, ""))), "")
    if types & FORUM_TYPES or FORUM_SOFTWARE.search(metas.get("generator", "")):
        return PageMetadata(doi, SourceKind.USER_GENERATED)
    is_publication = any(metas.get(name) for name in VENUES) or bool(types & PUBLICATION_TYPES)
    return PageMetadata(doi, SourceKind.EXPERT if doi and is_publication else None)


def _metas(tree: Any) -> dict[str, str]:
    """The first content of each name, by the name in small letters."""
    contents: dict[str, str] = {}
    for element in islice(tree.iter("meta"), METAS_MAX):
        name = (element.get("name") or element.get("property") or "").strip().lower()
        content = one_line((element.get("content") or "")[: 4 * DOI_CHARS_MAX])[:DOI_CHARS_MAX]
        if name and content:
            contents.setdefault(name, content)
    return contents


def _types(tree: Any) -> Iterator[str]:
    for thing in things_of(tree):
        types = thing.get("@type")
        yield from (str(name) for name in (types if isinstance(types, list) else [types]))
