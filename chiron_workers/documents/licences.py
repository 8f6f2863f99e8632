"""The licence that a source states for itself: a short name for Creative Commons, its own words for others."""

import re
from collections.abc import Iterator
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.json_ld import things_of

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
XMP_BYTES_MAX = 200_000
XMP = re.compile(
    rb'(?:cc:license\s+rdf:resource="|<xmpRights:WebStatement>|xmpRights:WebStatement="'
    rb'|<dc:rights>\s{0,100}<rdf:Alt>\s{0,100}<rdf:li[^>]{0,100}>)([^"<]{1,1000})'
)


def licence_name(words: object) -> str:
    """The licence for display: `CC BY-SA 4.0` for the address of that licence, any other text unchanged up to 300
    characters; empty for anything but text."""
    if not isinstance(words, str):
        return ""
    if match := CREATIVE_COMMONS.search(words):
        if match["waiver"]:
            return f"{WAIVERS[match['waiver'].lower()]} {match['of']}"
        return f"CC {match['terms'].upper()} {match['version']}"
    return one_line(words[: 4 * LICENCE_CHARS_MAX])[:LICENCE_CHARS_MAX]


def licence_of_html(tree: Any) -> str:
    """The licence in a page's links, Dublin Core metadata or JSON-LD; empty if none."""
    for words in (*_link_licences(tree), *_meta_licences(tree), *_json_ld_licences(tree)):
        if name := licence_name(words):
            return name
    return ""


def licence_of_pdf(data: bytes) -> str:
    """The licence in a PDF's XMP packet, which is rarely compressed; empty if none."""
    begin = data.find(b"<x:xmpmeta")
    if begin < 0:
        return ""
    match = XMP.search(data[begin : begin + XMP_BYTES_MAX].partition(b"</x:xmpmeta>")[0])
    return licence_name(match[1].decode(errors="replace")) if match else ""


def _link_licences(tree: Any) -> Iterator[str]:
    for element in tree.iter("link", "a"):
        if "license" in (element.get("rel") or "").lower().split():
            address = element.get("href") or ""
            words = one_line(element.text_content())[:LICENCE_CHARS_MAX]
            yield address if CREATIVE_COMMONS.search(address) else words or address


def _meta_licences(tree: Any) -> list[str]:
    values: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        if name in META_NAMES:
            values.setdefault(name, element.get("content") or "")
    return [values[name] for name in META_NAMES if name in values]


def _json_ld_licences(tree: Any) -> Iterator[str]:
    for thing in things_of(tree):
        # A picture's licence does not cover the text around it.
        if "ImageObject" not in str(thing.get("@type")):
            yield from _licence_texts(thing.get("license"))


def _licence_texts(licence: object) -> Iterator[str]:
    for item in licence if isinstance(licence, list) else [licence]:
        words = (item.get("name") or item.get("url") or item.get("@id")) if isinstance(item, dict) else item
        if isinstance(words, str):
            yield words
