"""The bullets and numbers of list items in a Word file."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from chiron_workers.documents.docx_elements import W
from chiron_workers.documents.scripts import list_mark

LIST_LEVELS_MAX = 9  # of Word
KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    form: str = "none"
    start: int = 1
    text: str = ""


class Numbering:
    """The marks of list items. A Word file holds only their definitions, so they are counted here."""

    def __init__(self, definitions: Any | None) -> None:
        self._levels: dict[tuple[str, int], _Level] = {}
        self._counts: Counter[tuple[str, int]] = Counter()
        if definitions is None:
            return
        abstract = {
            element.get(f"{W}abstractNumId"): element for element in definitions.iter(f"{W}abstractNum")
        }
        for number in definitions.iter(f"{W}num"):
            definition = abstract.get(child_value(number, "abstractNumId"))
            starts = {
                level_number(override.get(f"{W}ilvl")): child_value(override, "startOverride")
                for override in number.iter(f"{W}lvlOverride")
            }
            for level in () if definition is None else definition.iter(f"{W}lvl"):
                depth = level_number(level.get(f"{W}ilvl"))
                start = starts.get(depth) or child_value(level, "start")
                self._levels[number.get(f"{W}numId", ""), depth] = _Level(
                    child_value(level, "numFmt"), _integer(start), child_value(level, "lvlText")
                )

    def mark(self, properties: Any | None) -> str:
        """Return `- `, `3. ` or `c) `, indented by its level, for a paragraph's numPr element; empty for no list item."""
        if properties is None:
            return ""
        list_id, depth = child_value(properties, "numId"), level_number(child_value(properties, "ilvl"))
        level = self._levels.get((list_id, depth), _Level())
        if level.form == "none":
            return ""
        if level.form == "bullet":
            return "  " * depth + "- "
        self._counts[list_id, depth] += 1
        for deeper in range(depth + 1, LIST_LEVELS_MAX):
            self._counts[list_id, deeper] = 0
        words = PLACE.sub(lambda place: self._number(list_id, int(place[1]) - 1), level.text)
        return (
            "  " * depth + (words if PLACE.search(level.text) else f"{self._number(list_id, depth)}.") + " "
        )

    def _number(self, list_id: str, depth: int) -> str:
        level = self._levels.get((list_id, depth), _Level())
        count = level.start + max(self._counts[list_id, depth], 1) - 1
        return list_mark(count, KINDS.get(level.form, "1")).removesuffix(".")


def child_value(parent: Any, name: str) -> str:
    """The value of a child element; empty where there is none."""
    element = parent.find(f"{W}{name}")
    return element.get(f"{W}val", "") if element is not None else ""


def level_number(text: str | None) -> int:
    """How deep a list item stands, from 0."""
    return min(int(text), LIST_LEVELS_MAX) if text and text.isascii() and text.isdigit() else 0


def _integer(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1
