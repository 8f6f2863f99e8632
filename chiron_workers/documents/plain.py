import re
from collections.abc import Iterator

from chiron_workers.documents.document import Block, Document, clean, compose

UNDERLINED = re.compile(r"[ \t]*(\S[^\n]{0,200})\n[ \t]*([=\-*#^~+\"'])\2{2,}[ \t]*(?:\n|$)")
NUMBERED = re.compile(r"#{1,6} +(\S[^\n]{0,200}?) *#*(?:\n|$)")


def read_plain(text: str, *, title: str = "", name: str = "") -> Document:
    """A document of the paragraphs between blank lines; an underlined line or `# line` is a heading."""
    return compose(_blocks(clean(text)), title=title, name=name)


def _blocks(text: str) -> Iterator[Block]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        rest = paragraph.lstrip("\n")
        if heading := UNDERLINED.match(rest) or NUMBERED.match(rest):
            yield Block(heading.group(1).strip(), is_heading=True)
            rest = rest[heading.end() :]
        yield Block(rest)
