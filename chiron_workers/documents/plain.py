import re
from collections.abc import Iterator

from chiron_workers.documents.document import Block, Document, clean, compose

UNDERLINED_HEADING = re.compile(r"[ \t]*(\S[^\n]{0,200})\n[ \t]*([=\-*#^~+\"'])\2{2,}[ \t]*(?:\n|$)")
HASH_HEADING = re.compile(r"#{1,6} +(\S[^\n]{0,200}?) *#*(?:\n|$)")


def read_plain(text: str, *, title: str = "", name: str = "") -> Document:
    """Split a text into paragraphs at blank lines; an underlined line or `# line` is a heading."""
    return compose(_blocks(clean(text)), title=title, name=name)


def _blocks(text: str) -> Iterator[Block]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        body = paragraph.lstrip("\n")
        if heading := UNDERLINED_HEADING.match(body) or HASH_HEADING.match(body):
            yield Block(heading.group(1).strip(), is_heading=True)
            body = body[heading.end() :]
        yield Block(body)
