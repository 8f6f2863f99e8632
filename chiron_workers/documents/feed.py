"""Feeds (RSS, Atom) as entries: a heading, who wrote it and when, its text, and what else the entry says."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.entities import html5
from typing import Any

from chiron_workers.documents.document import Block, Document, UnreadableError, compose, one_line
from chiron_workers.documents.html_blocks import tree_blocks
from chiron_workers.documents.html_elements import SILENT
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.omissions import Omissions

ENTRIES = ("item", "entry")
# How an element of a feed or an entry is written. Others are written as `name: words`.
BODIES = ("encoded", "content", "description", "summary", "subtitle", "tagline", "abstract")
PEOPLE = {"author": "By", "creator": "By", "contributor": "With"}
LABELS = {
    "pubdate": "Published", "published": "Published", "issued": "Published", "date": "Published", "updated": "Updated",
    "modified": "Updated", "lastbuilddate": "Updated", "category": "Category", "subject": "Category", "link": "Link",
    "rights": "Rights", "copyright": "Rights",
}  # fmt: skip
SILENT_FIELDS = frozenset({
    "id", "guid", "generator", "docs", "ttl", "cloud", "icon", "logo", "language", "title", "items", "hub", "updateperiod",
    "updatefrequency", "updatebase", "skiphours", "skipdays",
})  # fmt: skip
MEDIA = {
    "enclosure": "enclosed file", "thumbnail": "picture of an entry", "image": "picture of an entry", "player": "enclosed file",
    "textinput": "form field",
}  # fmt: skip
SUMMARY = "summary of an entry that has its text"
XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")
ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
DECLARATION = re.compile(r"\s*<\?xml[^>]{0,300}\?>")
MARKUP = re.compile(r"<[a-zA-Z/!]|&[a-zA-Z#]")


def read_feed(text: str, *, name: str = "") -> Document:
    """The entries of a feed, in its order.

    Raises:
        UnreadableError: It is no XML.
    """
    root = _parse(text)
    omissions = Omissions()
    channel = next((child for child in _children(root) if _local(child) == "channel"), root)
    entries = [element for element in root.iter("{*}item", "{*}entry") if not _is_nested(element)]
    blocks = [*_fields(channel, omissions)]
    for entry in entries:
        if title := _title(entry, omissions):
            blocks.append(Block(title, is_heading=True))
        blocks += _fields(entry, omissions)
    document = compose(blocks, title=_title(channel, omissions), name=name)
    return replace(document, left_out=omissions.all())


def _parse(text: str) -> Any:
    from lxml import etree  # type: ignore[import-untyped]

    def write_sign(entity: re.Match[str]) -> str:
        return entity[0] if entity[1][:-1] in XML_ENTITIES else html5.get(entity[1], entity[0])

    source = ENTITY.sub(write_sign, DECLARATION.sub("", text, count=1)).strip()
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, remove_comments=True)
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadableError("it is a feed whose XML is broken")
    return root


def _fields(parent: Any, omissions: Omissions) -> Iterator[Block]:
    bodies = dict[str, Any]()
    lines, people = list[str](), list[str]()
    for element in _members(parent):
        name = _local(element)
        words = one_line(_words(element))
        if name in ENTRIES or name in SILENT_FIELDS:
            continue
        if name in MEDIA or (name == "content" and element.get("url")):
            omissions.add(MEDIA.get(name, "enclosed file"))
        elif name in BODIES and not element.get("src"):
            bodies.setdefault(name, element)
        elif name in PEOPLE:
            people.append(f"{PEOPLE[name]}: {_person(element)}")
        else:
            value = words or element.get("href") or element.get("term") or element.get("src") or ""
            lines += [f"{LABELS.get(name, name)}: {value}"] if value else []
    yield Block("\n".join([*(line for line in lines if line.startswith(("Published", "Updated"))), *people]))
    full = next((bodies[name] for name in BODIES if name in bodies), None)
    for name, element in bodies.items():
        if element is full:
            yield from _body(element, omissions)
        elif one_line(_words(element)) != one_line(_words(full)):
            omissions.add(SUMMARY, place=f"<{name}>")
    yield Block("\n".join(line for line in lines if not line.startswith(("Published", "Updated"))))


def _body(element: Any, omissions: Omissions) -> Iterator[Block]:
    from lxml import etree

    if len(element):  # XHTML
        inner = "".join(etree.tostring(child, encoding="unicode") for child in element)
        yield from html_words((element.text or "") + inner, omissions)
    elif element.get("type") in ("text", "text/plain") or not MARKUP.search(element.text or ""):
        yield Block(element.text or "")
    else:
        yield from html_words(element.text, omissions)


def html_words(source: str, omissions: Omissions) -> Iterator[Block]:
    """The blocks of HTML that stands in a field of other data."""
    from lxml import etree, html

    try:
        tree = html.fragment_fromstring(source, create_parent="div")
    except (etree.ParserError, ValueError, AssertionError):
        yield Block(unescape(source))
        return
    omissions.extend(rewrite(tree, source))
    etree.strip_elements(tree, *SILENT, etree.Comment, with_tail=False)
    yield from tree_blocks(tree)


def _title(parent: Any, omissions: Omissions) -> str:
    element = next((child for child in _children(parent) if _local(child) == "title"), None)
    return "" if element is None else one_line(" ".join(block.text for block in _body(element, omissions)))


def _person(element: Any) -> str:
    names = [one_line(_words(child)) for child in _children(element) if _local(child) == "name"]
    return ", ".join(names) or one_line(_words(element))


def _words(element: Any) -> str:
    return " ".join(element.itertext())


def _children(element: Any) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str)]


def _members(parent: Any) -> Iterator[Any]:
    """The fields of an entry, and those of its groups."""
    for child in _children(parent):
        yield from _children(child) if _local(child) == "group" else [child]


def _is_nested(element: Any) -> bool:
    return any(_local(ancestor) in ENTRIES for ancestor in element.iterancestors())


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()
