import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chiron_workers.documents.alias_free_yaml import AliasFreeLoader
from chiron_workers.documents.authors import author_names
from chiron_workers.documents.document import Block, Document, compose, parse_date
from chiron_workers.documents.html_blocks import html_blocks
from chiron_workers.documents.licences import licence_name
from chiron_workers.documents.markdown_words import hiding_tag, inline_words
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.scripts import list_mark, quotation_marks

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# Parsing brackets and emphasis takes quadratic time; longer paragraphs are no prose and are read as plain text.
PARAGRAPH_CHARS_MAX = 50_000
FORMULA = re.compile(r"\$\$[^$]{1,2000}\$\$|\$(?=[^\s$])(?:[^$\n\\]|\\[^\n]){0,1000}(?<=[^\s])\$(?!\d)")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def read_markdown(text: str, *, name: str = "") -> Document:
    """The text of a Markdown file. The title is that of the front matter, else the first heading.

    Author, date and licence come from the front matter.
    """
    if any(len(paragraph) > PARAGRAPH_CHARS_MAX for paragraph in text.split("\n\n")):
        return read_plain(text, name=name)
    match = FRONT_MATTER.match(text)
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "formula", _formula)
    tokens = parser.parse(text[match.end() :] if match else text)
    title = str(front_matter(text).get("title") or "")
    omissions = Omissions()
    document = compose(_blocks(_without_hidden(tokens, omissions), omissions), title=title, name=name)
    return with_front_matter(replace(document, left_out=omissions.all()), text)


def with_front_matter(document: Document, text: str) -> Document:
    """Add the author, date and licence of the front matter in `text`."""
    metadata = front_matter(text)
    return replace(
        document,
        authors=author_names(metadata.get("author") or metadata.get("authors")),
        published_at=parse_date(metadata.get("date") or metadata.get("published")),
        licence=licence_name(metadata.get("licence") or metadata.get("license") or metadata.get("rights")),
    )


def front_matter(text: str) -> dict[str, Any]:
    """The YAML mapping between two lines of dashes at the head of a Markdown file; empty if there is none,
    and where it has aliases."""
    match = FRONT_MATTER.match(text)
    try:
        data = yaml.load(match.group(1), Loader=AliasFreeLoader) if match else None  # noqa: S506  # it is a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _formula(state: StateInline, silent: bool) -> bool:  # the signature of a rule
    """A rule of the parser: a formula between dollars stays as it is."""
    match = FORMULA.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _without_hidden(tokens: list[Token], omissions: Omissions) -> Iterator[Token]:
    """The tokens but for those between a block of HTML that strikes out or hides what follows, and that of its end."""
    place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        start_tag = hiding_tag(token.content) if token.type == "html_block" else None
        end = None if start_tag is None else _end_of(start_tag[1], tokens, place)
        if start_tag is None or end is None:
            yield token
            continue
        start, _, kind = start_tag
        omissions.add(kind)
        place, behind = end
        yield token.copy(content=token.content[:start])
        yield token.copy(content=behind)


def _end_of(name: str, tokens: list[Token], place: int) -> tuple[int, str] | None:
    """Behind which token an element of HTML ends, and what else stands in it."""
    depth = 1
    for number, token in enumerate(tokens[place:], place + 1):
        if token.type != "html_block":
            continue
        for tag in re.finditer(rf"<(/?){name}\b[^<>]*>", token.content, re.IGNORECASE):
            depth += -1 if tag[1] else 1
            if depth == 0:
                return number, token.content[tag.end() :]
    return None


def _blocks(tokens: Iterable[Token], omissions: Omissions) -> Iterator[Block]:
    parent, mark, depth = "", "", 0  # in block quotes
    row, numbers = list[str](), list[int | None]()  # a list's next number, None for one with bullets
    for token in tokens:
        if token.type == "inline":
            words = inline_words(token.children or [], omissions)
            if parent in ("th_open", "td_open"):
                row.append(words)
            else:
                yield Block(quotation_marks(depth) + mark + words, is_heading=parent == "heading_open")
                mark = ""
        elif token.type in ("fence", "code_block"):
            yield Block(token.content)
        elif token.type == "html_block":
            yield from html_blocks(COMMENT.sub("", token.content), omissions)
        elif token.type == "tr_close":
            yield Block(" | ".join(row))
            row = []
        elif token.type in ("ordered_list_open", "bullet_list_open"):
            is_ordered = token.type == "ordered_list_open"
            numbers.append(int(token.attrGet("start") or 1) if is_ordered else None)
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            numbers.pop()
        elif token.type in ("blockquote_open", "blockquote_close"):
            depth += token.nesting
        elif token.type == "list_item_open":
            mark = ""
            if numbers and (number := numbers[-1]) is not None:
                mark, numbers[-1] = f"{list_mark(number)} ", number + 1
        parent = token.type
