from collections import Counter
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LEVELS_MAX = 9  # that Word has


class Numbering:
    """The marks before the items of a Word document's lists, which its file only describes."""

    def __init__(self, definitions: Any | None) -> None:
        self._formats: dict[tuple[str, int], str] = {}
        self._counted: Counter[tuple[str, int]] = Counter()
        if definitions is None:
            return
        abstract = {one.get(f"{W}abstractNumId"): one for one in definitions.iter(f"{W}abstractNum")}
        for number in definitions.iter(f"{W}num"):
            described = abstract.get(_value(number, "abstractNumId"))
            for level in () if described is None else described.iter(f"{W}lvl"):
                key = (number.get(f"{W}numId", ""), _whole(level.get(f"{W}ilvl")))
                self._formats[key] = _value(level, "numFmt")

    def mark(self, properties: Any | None) -> str:
        """`- ` or `3. ` before a paragraph whose numPr element this is, indented by its level; else nothing."""
        if properties is None:
            return ""
        number, level = _value(properties, "numId"), _whole(_value(properties, "ilvl"))
        form = self._formats.get((number, level), "none")
        if form == "none":
            return ""
        if form == "bullet":
            return "  " * level + "- "
        self._counted[number, level] += 1
        for deeper in range(level + 1, LEVELS_MAX):
            self._counted[number, deeper] = 0
        return "  " * level + f"{self._counted[number, level]}. "


def _value(parent: Any, name: str) -> str:
    found = parent.find(f"{W}{name}")
    return found.get(f"{W}val", "") if found is not None else ""


def _whole(text: str | None) -> int:
    return min(int(text), LEVELS_MAX) if text and text.isascii() and text.isdigit() else 0
