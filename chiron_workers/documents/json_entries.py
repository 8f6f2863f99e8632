"""JSON as entries: each object of a list a block of lines `name: value`, so that a quote can be taken from it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from chiron_workers.documents.document import BLOCKS_MAX, Block, Document, compose, one_line
from chiron_workers.documents.feed import html_words
from chiron_workers.documents.omissions import Omissions

TITLES = ("title", "name", "headline", "label")
TITLE_CHARS_MAX = 300
LINES_MAX = 20_000
HTML = re.compile(r"</[a-z][a-z0-9]{0,10}>|<(?:br|hr|p|img)\b", re.IGNORECASE)
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
    entries = _entries(value)
    blocks = list[Block]()
    if isinstance(value, _Object):
        rest = _Object((key, part) for key, part in value if part is not entries)
        blocks.append(Block("\n".join(islice(_lines(rest, "", omissions), LINES_MAX))))
    for entry in islice(entries, BLOCKS_MAX):
        title = _title(entry)
        if title:
            blocks.append(Block(title, is_heading=True))
        blocks.append(Block("\n".join(islice(_lines(entry, "", omissions), LINES_MAX))))
    title = _title(value) if isinstance(value, _Object) else ""
    return replace(compose(blocks, title=title, name=name), left_out=omissions.all())


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


def _lines(value: Value, path: str, omissions: Omissions) -> Iterator[str]:
    label = f"{path}: " if path else ""
    if isinstance(value, _Object):
        for key, part in value:
            yield from _lines(part, f"{path}.{key}" if path else key, omissions)
    elif isinstance(value, list):
        if any(isinstance(part, list) for part in value):
            for number, part in enumerate(value, 1):
                yield from _lines(part, f"{path}[{number}]", omissions)
        elif value:
            yield label + "; ".join(_words(part, omissions) for part in value)
    else:
        yield label + _words(value, omissions)


def _words(value: Value, omissions: Omissions) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = str(value)
    if not HTML.search(text):
        return text
    return "\n".join(block.text for block in html_words(text, omissions) if block.text)
