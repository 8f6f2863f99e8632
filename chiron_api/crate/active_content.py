"""What in a page could run or load something. It is looked for where the page cannot be made again and compared."""

import re
from collections.abc import Iterator

from chiron_api.crate.layout import PAGE
from chiron_api.text import one_line

# Pages of Chiron escape what could begin or end a tag or a value, so each `<` begins a tag, and no tag holds another.
TAG = re.compile(rb"<([a-zA-Z][^\s<>/]*)[^<>]*")
VALUE = re.compile(rb'"[^"]*"')
ELEMENTS = frozenset(
    b"applet audio base embed form frame frameset iframe img input link object portal script source svg template video".split()
)
HANDLER = re.compile(rb"[\s\"'/](on[a-z]+)\s*=", re.IGNORECASE)
SCHEME = re.compile(rb"\b(?:href|src)\s*=(?:\"\s*(?:javascript|data|vbscript)|(?!\"))", re.IGNORECASE)
REFRESH = re.compile(rb"http-equiv\s*=\s*\W?\s*refresh", re.IGNORECASE)


def check_page(content: bytes) -> Iterator[str]:
    """The first thing in it that no page of Chiron has."""
    for match in TAG.finditer(content):
        tag, bare = match.group(), VALUE.sub(b'""', match.group())
        handler = HANDLER.search(bare)
        if match[1].lower() in ELEMENTS or handler or REFRESH.search(tag):
            name = handler[1] if handler else match[1]
            yield f"{PAGE} has a {one_line(name.decode(errors='replace'))}, which no page of Chiron has."
            return
        if SCHEME.search(bare) or SCHEME.search(tag) or tag.count(b'"') % 2 or b"'" in bare:
            yield f"{PAGE} has a tag that no page of Chiron has: {one_line(tag.decode(errors='replace'))}."
            return
