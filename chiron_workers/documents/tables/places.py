"""Cells by their names, such as B7, and by their row and column."""

import re
from functools import lru_cache

TAG_CHARS_MAX = 500
REFERENCE = re.compile(rb'\sr="([A-Z]{1,3})(\d{1,7})"')
Place = tuple[int, int]  # row and column, counted from 0


def cell_place(xml: bytes, within: int) -> Place | None:
    """Row and column of the cell within whose tag a place lies."""
    start = xml.rfind(b"<", max(0, within - TAG_CHARS_MAX), within)
    end = xml.find(b">", within, within + TAG_CHARS_MAX)
    if start < 0 or end < 0:
        return None
    tag = xml[start:end]
    name = tag.split(None, 1)[0]
    reference = REFERENCE.search(tag)
    if reference is None or name.rpartition(b":")[2].lstrip(b"<") != b"c":
        return None
    return int(reference[2]) - 1, column_number(reference[1])


@lru_cache(maxsize=1_000)
def column_number(letters: bytes) -> int:
    """The number of a column, counted from 0, by its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1


def cell_name(place: Place) -> str:
    """The name of a cell, such as B7."""
    return f"{column_name(place[1])}{place[0] + 1}"


def column_name(column: int) -> str:
    """The letters of a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters
