import re
from collections.abc import Iterator

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chiron_workers.sources.document import Block, Document, compose
from chiron_workers.sources.plain import read_plain

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
TAG = re.compile(r"<[^<>]{0,2000}>")
# Markdown's rules for brackets and emphasis take quadratic time, which no paragraph of prose notices.
PARAGRAPH_CHARS_MAX = 50_000
BREAKS = {"softbreak": " ", "hardbreak": "\n"}


def read_markdown(text: str, *, name: str = "") -> Document:
    """The words of a Markdown file; its title is the front matter's, else the first heading."""
    if any(len(paragraph) > PARAGRAPH_CHARS_MAX for paragraph in text.split("\n\n")):
        return read_plain(text, name=name)
    front = FRONT_MATTER.match(text)
    tokens = MarkdownIt("commonmark").enable("table").parse(text[front.end() :] if front else text)
    return compose(_blocks(tokens), title=_title(front.group(1)) if front else "", name=name)


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    opened, row = "", list[str]()
    for token in tokens:
        if token.type == "inline":
            if opened in ("th_open", "td_open"):
                row.append(_words(token))
            else:
                yield Block(_words(token), is_heading=opened == "heading_open")
        elif token.type in ("fence", "code_block"):
            yield Block(token.content)
        elif token.type == "html_block":
            yield Block(TAG.sub("", token.content))
        elif token.type == "tr_close":
            yield Block(" | ".join(row))
            row = []
        opened = token.type


def _words(token: Token) -> str:
    return "".join(
        BREAKS.get(child.type, "" if child.type == "html_inline" else child.content)
        for child in token.children or []
    )


def _title(front_matter: str) -> str:
    try:
        found = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ""
    return str(found.get("title") or "") if isinstance(found, dict) else ""
