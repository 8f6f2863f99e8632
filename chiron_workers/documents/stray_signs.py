"""Signs such as `<` and `&` that are a text's own, in sources of XML and HTML whose writers have not escaped them."""

import re
from bisect import bisect_left
from collections import defaultdict
from html.entities import html5

from chiron_workers.documents.html_elements import ELEMENTS, WORDS

# Possessive quantifiers prevent backtracking. A value without quotes is broken XML, and common.
VALUE = r"\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'<>=]++)"
NAME = r"[A-Za-z_][\w:.-]{0,200}+"
XML_TAG = re.compile(rf"<(/?)({NAME})(?:\s++[\w:.-]++{VALUE})*+\s*+(/?)>")
# In HTML these attributes have no value. Other words in a tag are no attributes: `a <s and t> 5`.
BARE = "allowfullscreen|async|autoplay|checked|compact|controls|defer|disabled|hidden|inert|ismap|itemscope|loop|multiple|muted"
BARE += "|nomodule|noshade|novalidate|nowrap|open|playsinline|readonly|required|reversed|selected"
HTML_TAG = re.compile(
    rf"<(/?)({NAME})(?:\s++(?:[^\s\"'<>/=]++{VALUE}|(?:{BARE})(?=[\s/>])))*+\s*+(/?)>", re.IGNORECASE
)
TOKEN = re.compile(r"<!--|<!\[CDATA\[|<\?|<!DOCTYPE\b|<|&", re.IGNORECASE)
ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
DOCTYPE = re.compile(r"<!DOCTYPE[^\[<>]{0,2000}+(?:\[[^\]]{0,100000}+\])?+\s*+>", re.IGNORECASE)
REFERENCE = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]{0,31};)|#(\d{1,7});|#[xX]([0-9A-Fa-f]{1,6});)")
AMPERSAND = re.compile(f"{REFERENCE.pattern}|&")
XML_ENTITIES = {"amp;", "lt;", "gt;", "quot;", "apos;"}
VOID = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
ENDLESS = VOID | {"dd", "dt", "li", "option", "p", "rp", "rt", "tbody", "td", "tfoot", "th", "thead", "tr"}
HTML_NAMES = ELEMENTS | VOID | {"math", "svg"}


def well_formed(source: str, *, endless: frozenset[str]) -> str:
    """XML whose stray signs are escaped, without comments and declarations.

    A tag without its other half is text too, but for the names in `endless`.
    """
    tags = _Tags(source, XML_TAG)
    pieces, place, name = list[str](), 0, ""
    ends: dict[str, int] = {}
    while match := TOKEN.search(source, place):
        pieces.append(source[place : match.start()])
        mark, place = match[0].upper(), match.end()
        if mark == "<![CDATA[":
            content, place = _character_data(source, place, tags.end_of(name, place), ends)
            pieces.append(f"<![CDATA[{content}]]>")
        elif mark in ENDS:
            end = _next(source, ENDS[mark], place, ends)
            pieces += ["&lt;" + match[0][1:]] if end < 0 else []
            place = place if end < 0 else end + len(ENDS[mark])
        elif mark == "<!DOCTYPE" and (declaration := DOCTYPE.match(source, match.start())):
            place = declaration.end()
        elif mark == "&":
            reference = AMPERSAND.match(source, match.start())
            pieces.append(_reference(reference) if reference else "")
            place = reference.end() if reference else place
        elif (tag := XML_TAG.match(source, match.start())) and tags.is_whole(tag, endless):
            name = tag[2] if not tag[1] and not tag[3] else name
            pieces.append(_with_references(tag[0]))
            place = tag.end()
        else:
            pieces.append("&lt;" + match[0][1:])
    return "".join([*pieces, source[place:]])


def has_markup(source: str) -> bool:
    """Whether a text is HTML: it has the end of an element of HTML, or an element that needs none."""
    return any(
        tag[2].lower() in HTML_NAMES and (tag[1] or tag[3] or tag[2].lower() in VOID)
        for tag in HTML_TAG.finditer(source)
    )


def without_strays(source: str) -> str:
    """HTML in which each `<` that begins no tag is escaped."""
    tags = _Tags(source, HTML_TAG)
    endless = frozenset(ENDLESS)
    pieces, place = list[str](), 0
    ends: dict[str, int] = {}
    while (start := source.find("<", place)) >= 0:
        pieces.append(source[place:start])
        tag = HTML_TAG.match(source, start)
        if tag and (tags.is_whole(tag, endless) or _is_cut_off(tag)):
            pieces.append(tag[0])
            place = tag.end()
        elif source.startswith("<!--", start) and (end := _next(source, "-->", start, ends)) >= 0:
            place = end + 3
        else:
            pieces.append("&lt;")
            place = start + 1
    return "".join([*pieces, source[place:]])


def _is_cut_off(tag: re.Match[str]) -> bool:
    """Whether a tag is one of HTML whose end is not there, and that may hold all that stands behind it."""
    return not tag[1] and "=" in tag[0] and tag[2].lower() in WORDS


def unescape_entities(text: str) -> str:
    """A text whose entities are signs. Those without a semicolon are words: `AT&T`."""
    return REFERENCE.sub(lambda match: _sign(match) or match[0], text) if "&" in text else text


class _Tags:
    """Where the elements of a source begin and end, by their names."""

    def __init__(self, source: str, pattern: re.Pattern[str]) -> None:
        self._starts, self._ends = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for tag in pattern.finditer(source):
            (self._ends if tag[1] else self._starts)[tag[2].lower()].append(tag.start())

    def end_of(self, name: str, place: int) -> int:
        """Where the next end tag of this name stands; -1 where there is none."""
        places = self._ends.get(name.lower(), [])
        index = bisect_left(places, place)
        return places[index] if index < len(places) else -1

    def is_whole(self, tag: re.Match[str], endless: frozenset[str] = frozenset()) -> bool:
        """Whether a tag has its other half, or needs none."""
        name = tag[2].lower()
        if tag[3] or name.rpartition(":")[2] in endless:
            return True
        if tag[1]:
            return bool(self._starts.get(name)) and self._starts[name][0] < tag.start()
        return self.end_of(name, tag.end()) >= 0


def _next(source: str, words: str, place: int, ends: dict[str, int]) -> int:
    """Where words stand next; `ends` has the place that was found last, so that no part is searched twice."""
    if words not in ends or -1 < ends[words] < place:
        ends[words] = source.find(words, place)
    return ends[words]


def _character_data(source: str, place: int, field_end: int, ends: dict[str, int]) -> tuple[str, int]:
    """A CDATA section and where it ends. One that is not closed ends with its field, not with the next section."""
    end = _next(source, "]]>", place, ends)
    stop = len(source) if end < 0 else end
    if place <= field_end < stop and (end < 0 or source.find("<![CDATA[", place, stop) > field_end):
        return source[place:field_end], field_end
    return source[place:stop], stop if end < 0 else stop + 3


def _with_references(words: str) -> str:
    return AMPERSAND.sub(_reference, words) if "&" in words else words


def _reference(match: re.Match[str]) -> str:
    """The replacement of a `&`: an XML entity unchanged, an HTML entity as its character, else `&amp;`."""
    if match[0] == "&" or (match[1] and match[1] not in XML_ENTITIES and match[1] not in html5):
        return "&amp;" + match[0][1:]
    if match[1] in XML_ENTITIES:
        return match[0]
    return _sign(match).replace("&", "&amp;").replace("<", "&lt;")


def _sign(match: re.Match[str]) -> str:
    if match[1]:
        return html5.get(match[1], "")
    number = int(match[2]) if match[2] else int(match[3], 16)
    is_sign = (
        number in (9, 10, 13)
        or 32 <= number < 0xD800
        or 0xE000 <= number < 0xFFFE
        or 0xFFFF < number < 0x110000
    )
    return chr(number) if is_sign else ""
