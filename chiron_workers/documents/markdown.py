import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chiron_workers.documents.document import Block, Document, author_name, compose, parse_date
from chiron_workers.documents.licences import licence_name
from chiron_workers.documents.plain import read_plain

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
TAG = re.compile(r"<[^<>]{0,2000}>")
# Markdown's rules for brackets and emphasis take quadratic time, which no paragraph of prose notices.
PARAGRAPH_CHARS_MAX = 50_000
BREAKS = {"softbreak": " ", "hardbreak": "\n"}


def read_markdown(text: str, *, name: str = "") -> Document:
    """The words of a Markdown file; its title is the front matter's, else the first heading.

    Author, date and licence are those of the front matter.
    """
    if any(len(paragraph) > PARAGRAPH_CHARS_MAX for paragraph in text.split("\n\n")):
        return read_plain(text, name=name)
    front = FRONT_MATTER.match(text)
    tokens = MarkdownIt("commonmark").enable("table").parse(text[front.end() :] if front else text)
    title = str(front_matter(text).get("title") or "")
    return with_front_matter(compose(_blocks(tokens), title=title, name=name), text)


def with_front_matter(found: Document, text: str) -> Document:
    """The document with the author, date and licence that the front matter of its Markdown names."""
    about = front_matter(text)
    return replace(
        found,
        author=author_name(about.get("author") or about.get("authors")),
        published_at=parse_date(about.get("date") or about.get("published")),
        licence=licence_name(about.get("licence") or about.get("license") or about.get("rights")),
    )


def front_matter(text: str) -> dict[str, Any]:
    """What stands between the two lines of dashes at the head of a Markdown file; empty where nothing does."""
    front = FRONT_MATTER.match(text)
    try:
        found = yaml.safe_load(front.group(1)) if front else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


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
