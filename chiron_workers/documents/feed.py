"""Feeds (RSS, Atom) as entries: a heading, who wrote it and when, its text, and what else the entry says."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any

from chiron_workers.documents.document import Block, Document, UnreadableError, compose, one_line
from chiron_workers.documents.html_blocks import tree_blocks
from chiron_workers.documents.html_elements import SILENT
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.stray_signs import has_markup, unescape_entities, well_formed, without_strays

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
FURTHER_TEXT = "further text of an entry"
BROKEN = "part of a feed whose XML is broken"
# The parser closes these itself where their end is missing.
STRUCTURE = frozenset({"rss", "channel", "feed", "rdf", "item", "entry"})
CONTENT = re.compile(r"^content$|/content/?$")  # the vocabulary of a feed's full texts
ROOT = re.compile(r"<(?:\w{1,20}:)?(?:rss|feed|RDF)\b")
ATOM_TYPES = ("", "text", "text/plain")
MARKUP_TYPES = ("html", "text/html", "xhtml", "application/xhtml+xml")
ATTRIBUTES_UNREAD = frozenset(
    {"lang", "space", "base", "about", "resource", "parsetype", "schemalocation", "nil"}
)


def read_feed(text: str, *, name: str = "") -> Document:
    """The entries of a feed, in its order.

    Raises:
        UnreadableError: It is no XML.
    """
    omissions = Omissions()
    root = _parse(text, omissions)
    channel = next((child for child in _children(root) if _local(child) == "channel"), root)
    entries = [element for element in root.iter("{*}item", "{*}entry") if not _is_nested(element)]
    blocks = [*_fields(channel, omissions)]
    for entry in entries:
        if title := _title(entry, omissions):
            blocks.append(Block(title, is_heading=True))
        blocks += _fields(entry, omissions)
    document = compose(blocks, title=_title(channel, omissions), name=name)
    return replace(document, left_out=omissions.all())


def _parse(text: str, omissions: Omissions) -> Any:
    from lxml import etree  # type: ignore[import-untyped]

    source = well_formed(text, endless=STRUCTURE)
    start = ROOT.search(source)
    # Without declarations there are no entities that could be expanded.
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(source[start.start() :].encode(), parser) if start else None
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadableError("it is a feed whose XML is broken")
    errors = [error for error in parser.error_log if error.domain_name != "NAMESPACE"]
    if errors:
        omissions.add(BROKEN, place=f"line {errors[0].line:,}")
    return root


def _fields(parent: Any, omissions: Omissions) -> Iterator[Block]:
    bodies = list[tuple[str, Any]]()
    lines, people = list[str](), list[str]()
    title = _title_element(parent)
    for element in _members(parent):
        name = _local(element)
        words = one_line(_words(element))
        if name in ENTRIES or (name in SILENT_FIELDS and name != "title"):
            continue
        if name in MEDIA or (name in BODIES and _is_file(element)):
            omissions.add(MEDIA.get(name, "enclosed file"))
        elif name in BODIES and not element.get("src"):
            bodies.append((name, element))
        elif name in PEOPLE:
            people.append(f"{PEOPLE[name]}: {_person(element)}")
        elif name == "title":
            is_further = element is not title and words != one_line(_words(title))
            lines += [f"title: {words}"] if words and is_further else []
        else:
            value = words or element.get("href") or element.get("term") or element.get("src") or ""
            lines += [f"{LABELS.get(name, name)}: {value}"] if value else []
            lines += _attributes(element, name, value) if name not in LABELS else []
    yield Block("\n".join([*(line for line in lines if line.startswith(("Published", "Updated"))), *people]))
    _, full = min(bodies, key=lambda body: _rank(body[0], body[1], parent), default=("", None))
    for name, element in bodies:
        if element is full:
            yield from _body(element, omissions)
        elif one_line(_words(element)) not in ("", one_line(_words(full))):
            omissions.add(FURTHER_TEXT, place=f"<{name}>")
    yield Block("\n".join(line for line in lines if not line.startswith(("Published", "Updated"))))


def _rank(name: str, element: Any, parent: Any) -> tuple[bool, int]:
    """Which of the texts of an entry is its own: one of the feed's own names before those of other vocabularies."""
    is_foreign = _namespace(element) != _namespace(parent) and not CONTENT.search(_namespace(element))
    return is_foreign, BODIES.index(name)


def _attributes(element: Any, name: str, value: str) -> Iterator[str]:
    """The attributes of an element that no table knows, and of those in it."""
    for part in element.iter("*"):
        label = name if part is element else f"{name}.{_local(part)}"
        for key, words in part.items():
            attribute = key.rpartition("}")[2].rpartition(":")[2]
            if words.strip() and words != value and attribute.lower() not in ATTRIBUTES_UNREAD:
                yield f"{label}.{attribute}: {one_line(words)}"


def _is_file(element: Any) -> bool:
    """Whether a text is elsewhere, or no words: a picture, a film."""
    kind = (element.get("type") or "").lower()
    is_text = "/" not in kind or kind.startswith("text/") or kind.endswith(("xml", "html"))
    return bool(element.get("url")) or not is_text


def _body(element: Any, omissions: Omissions) -> Iterator[Block]:
    from lxml import etree

    text = element.text or ""
    kind = (element.get("type") or "").lower()
    if len(element):  # XHTML, or a feed that has not escaped its HTML
        inner = "".join(etree.tostring(child, encoding="unicode") for child in element)
        yield from html_words(text.replace("<", "&lt;") + inner, omissions)
    elif kind in ATOM_TYPES and _is_atom(element):
        yield Block(text)
    elif kind in MARKUP_TYPES or has_markup(text):
        yield from html_words(text, omissions)
    else:
        yield Block(unescape_entities(text))


def _is_atom(element: Any) -> bool:
    root = element.getroottree().getroot()
    return _local(root) == "feed" and _namespace(root) == _namespace(element)


def html_words(source: str, omissions: Omissions) -> Iterator[Block]:
    """The blocks of HTML that stands in a field of other data."""
    from lxml import etree, html

    source = without_strays(source)
    try:
        tree = html.fragment_fromstring(source, create_parent="div")
    except (etree.ParserError, ValueError, AssertionError):
        yield Block(unescape(source))
        return
    omissions.extend(rewrite(tree, source))
    etree.strip_elements(tree, *SILENT, etree.Comment, with_tail=False)
    yield from tree_blocks(tree)


def _title(parent: Any, omissions: Omissions) -> str:
    element = _title_element(parent)
    return "" if element is None else one_line(" ".join(block.text for block in _body(element, omissions)))


def _title_element(parent: Any) -> Any:
    titles = [child for child in _children(parent) if _local(child) == "title"]
    own_titles = [title for title in titles if _namespace(title) == _namespace(parent)]
    return next(iter([*own_titles, *titles]), None)


def _person(element: Any) -> str:
    names = [one_line(_words(child)) for child in _children(element) if _local(child) == "name"]
    return ", ".join(names) or one_line(_words(element))


def _words(element: Any) -> str:
    return " ".join(element.itertext())


def _children(element: Any) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str)]


def _members(parent: Any) -> Iterator[Any]:
    """The fields of an entry, and those of its groups and enclosed files."""
    for child in _children(parent):
        if _local(child) == "group":
            yield from _members(child)
        else:
            yield child
            if _local(child) == "content" and child.get("url"):
                yield from _children(child)


def _is_nested(element: Any) -> bool:
    return any(_local(ancestor) in ENTRIES for ancestor in element.iterancestors())


def _namespace(element: Any) -> str:
    space, is_bound, _ = str(element.tag).rpartition("}")
    return space if is_bound else str(element.tag).rpartition(":")[0]


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()
