"""JSON as entries: each object of a list a block of lines `name: value`, so that a quote can be taken from it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from chiron_workers.documents.document import Block, Document, compose, one_line
from chiron_workers.documents.feed import html_words
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.stray_signs import has_markup

TITLES = ("title", "name", "headline", "label")
TITLE_CHARS_MAX = 300
HTML_CHARS_MAX = 4_000_000  # in all; HTML behind these stays as it is
HTML_CHARS_EACH = 200  # what a text costs beside its letters
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s"\[\]{},:]++|[\[\]{},:]')
Value = object


class _Object(list[tuple[str, Value]]):
    """The members of an object, in order; a name may stand there twice."""


def read_json(text: str, *, name: str = "") -> Document | None:
    """The entries of JSON, or of lines of JSON; None where it is none. Numbers keep their digits."""
    try:
        return _read(text, name)
    except (ValueError, RecursionError):
        return None


def _read(text: str, name: str) -> Document:
    value = _parse(text)
    omissions = Omissions()
    title = _title(value) if isinstance(value, _Object) else ""
    blocks = _blocks(value, _entries(value), omissions)
    return replace(compose(blocks, title=title, name=name), left_out=omissions.all())


def _blocks(value: Value, entries: list[Value], omissions: Omissions) -> Iterator[Block]:
    writer = _Writer(omissions)
    if isinstance(value, _Object):
        rest = _Object((key, part) for key, part in value if part is not entries)
        yield Block("\n".join(writer.lines(rest, "")))
    for entry in entries:
        if title := _title(entry):
            yield Block(title, is_heading=True)
        yield Block("\n".join(writer.lines(entry, "")))


def indented(text: str) -> str:
    """JSON with each value on a line of its own; numbers and repeated names stay as they are written.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is too deep.
    """
    json.loads(text, parse_int=str, parse_float=str)
    pieces, depth = list[str](), 0
    for match in TOKEN.finditer(text):
        word = match[0]
        if word in "]}":
            depth -= 1
            pieces.append(word if pieces[-1] in ("[", "{") else "\n" + " " * depth + word)
            continue
        if pieces and pieces[-1] in ("[", "{", ","):
            pieces.append("\n" + " " * depth)
        depth += word in "[{"
        if word[0] == '"':
            word = json.dumps(json.loads(word, strict=False), ensure_ascii=False)
        pieces.append(": " if word == ":" else word)
    return "".join(pieces)


def _parse(text: str) -> Value:
    def load(source: str) -> Value:
        value: Value = json.loads(
            source, object_pairs_hook=_Object, parse_float=str, parse_int=str, parse_constant=str
        )
        return value

    try:
        return load(text)
    except ValueError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [load(line) for line in lines]


def _entries(value: Value) -> list[Value]:
    """The list of objects that a document is, or its longest one."""
    if isinstance(value, _Object):
        lists = [part for _, part in value if isinstance(part, list) and _is_list_of_objects(part)]
        return max(lists, key=len, default=[])
    return value if isinstance(value, list) else [value]


def _is_list_of_objects(value: list[Value]) -> bool:
    return not isinstance(value, _Object) and any(isinstance(part, _Object) for part in value)


def _title(entry: Value) -> str:
    names = dict(entry) if isinstance(entry, _Object) else {}
    title = next((names[key] for key in TITLES if isinstance(names.get(key), str)), "")
    return one_line(str(title))[:TITLE_CHARS_MAX]


class _Writer:
    """The lines of values; their HTML is read as its words."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._html_chars = 0

    def lines(self, value: Value, path: str) -> Iterator[str]:
        label = f"{path}: " if path else ""
        if isinstance(value, _Object):
            for key, part in value:
                yield from self.lines(part, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            if any(isinstance(part, list) for part in value):
                for number, part in enumerate(value, 1):
                    yield from self.lines(part, f"{path}[{number}]")
            elif value:
                yield label + "; ".join(map(self._words, value))
        else:
            yield label + self._words(value)

    def _words(self, value: Value) -> str:
        if value is None or isinstance(value, bool):
            return json.dumps(value)
        text = str(value)
        if "<" not in text or self._html_chars > HTML_CHARS_MAX or not has_markup(text):
            return text
        self._html_chars += len(text) + HTML_CHARS_EACH
        return "\n".join(block.text for block in html_words(text, self._omissions) if block.text)
