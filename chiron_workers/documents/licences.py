"""Under which licence a source says that it stands, in its own words or by the short name of a well-known one."""

import json
import re
from collections.abc import Iterator
from typing import Any

from chiron_workers.documents.document import one_line

LICENCE_CHARS_MAX = 300
CREATIVE_COMMONS = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licen[sc]es/(?P<terms>[a-z-]{2,20})/(?P<version>\d\.\d)"
    r"|publicdomain/(?P<waiver>zero|mark)/(?P<of>\d\.\d))",
    re.IGNORECASE,
)
WAIVERS = {"zero": "CC0", "mark": "Public Domain Mark"}
META_NAMES = (
    "dcterms.license",
    "dc.rights.license",
    "dc.license",
    "license",
    "dc.rights",
    "dcterms.rights",
    "citation_license",
)
LINKED_DATA_CHARS_MAX = 500_000
LINKED_DATA_MAX = 20  # scripts of one page, and things in one of them
XMP_BYTES_MAX = 200_000
XMP = re.compile(
    rb'(?:cc:license\s+rdf:resource="|<xmpRights:WebStatement>|xmpRights:WebStatement="'
    rb'|<dc:rights>\s{0,100}<rdf:Alt>\s{0,100}<rdf:li[^>]{0,100}>)([^"<]{1,1000})'
)


def licence_name(words: object) -> str:
    """A licence as it is shown: `CC BY-SA 4.0` for the address of that licence, anything else as it stands, up to
    300 characters; empty for what is no text."""
    if not isinstance(words, str):
        return ""
    if found := CREATIVE_COMMONS.search(words):
        if found["waiver"]:
            return f"{WAIVERS[found['waiver'].lower()]} {found['of']}"
        return f"CC {found['terms'].upper()} {found['version']}"
    return one_line(words[: 4 * LICENCE_CHARS_MAX])[:LICENCE_CHARS_MAX]


def licence_of_html(tree: Any) -> str:
    """The licence that a page names in its head: a link, Dublin Core or JSON-LD; empty where it names none."""
    for words in (*_linked(tree), *_meta(tree), *_linked_data(tree)):
        if name := licence_name(words):
            return name
    return ""


def licence_of_pdf(data: bytes) -> str:
    """The licence in a PDF's XMP packet, which is seldom compressed; empty where there is none."""
    begin = data.find(b"<x:xmpmeta")
    if begin < 0:
        return ""
    found = XMP.search(data[begin : begin + XMP_BYTES_MAX].partition(b"</x:xmpmeta>")[0])
    return licence_name(found[1].decode(errors="replace")) if found else ""


def _linked(tree: Any) -> Iterator[str]:
    for element in tree.iter("link", "a"):
        if "license" in (element.get("rel") or "").lower().split():
            address = element.get("href") or ""
            words = one_line(element.text_content())[:LICENCE_CHARS_MAX]
            yield address if CREATIVE_COMMONS.search(address) else words or address


def _meta(tree: Any) -> list[str]:
    found: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        if name in META_NAMES:
            found.setdefault(name, element.get("content") or "")
    return [found[name] for name in META_NAMES if name in found]


def _linked_data(tree: Any) -> Iterator[str]:
    scripts = [one for one in tree.iter("script") if "ld+json" in (one.get("type") or "").lower()]
    for script in scripts[:LINKED_DATA_MAX]:
        try:
            found = json.loads((script.text or "")[:LINKED_DATA_CHARS_MAX])
        except (ValueError, RecursionError):
            continue
        for thing in _things(found)[:LINKED_DATA_MAX]:
            # A picture's licence says nothing of the text around it.
            if "ImageObject" not in str(thing.get("@type")):
                yield from _names(thing.get("license"))


def _things(found: object) -> list[dict[str, Any]]:
    top = found if isinstance(found, list) else [found]
    graphs = [
        each["@graph"] for each in top if isinstance(each, dict) and isinstance(each.get("@graph"), list)
    ]
    return [each for group in (top, *graphs) for each in group if isinstance(each, dict)]


def _names(licence: object) -> Iterator[str]:
    for each in licence if isinstance(licence, list) else [licence]:
        words = (each.get("name") or each.get("url") or each.get("@id")) if isinstance(each, dict) else each
        if isinstance(words, str):
            yield words
