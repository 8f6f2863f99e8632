"""The words of `vocabulary.txt`, by section: what says nothing, what negates, what restricts, what is opposite."""

import re
from pathlib import Path


def _sections() -> dict[str, list[str]]:
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    sections: dict[str, list[str]] = {}
    for line in (line for line in lines if line and not line.startswith("#")):
        if heading := re.fullmatch(r"\[(.+)\]", line):
            section = sections.setdefault(heading[1], [])
        else:
            section.append(line)
    return sections


_SECTIONS = _sections()


def words(section: str) -> list[str]:
    """The words of a section, in their order."""
    return [word for line in _SECTIONS[section] for word in line.split()]


def lines(section: str) -> list[str]:
    """The lines of a section, in their order."""
    return _SECTIONS[section]


SILENT = frozenset(words("silent"))
NEGATIONS = frozenset(words("negations"))
EMPTY_AFTER_NEGATION = frozenset(words("empty after negation"))
HEDGES = frozenset(words("hedges"))
CUES = frozenset(words("cues"))
CONDITION_OPENERS = frozenset(words("condition openers"))
OPENERS = frozenset(words("openers"))
BASES = frozenset(words("bases"))
ONE_ANSWER = frozenset(words("one answer"))
ENGLISH = frozenset(words("english"))
FOREIGN = frozenset(words("foreign"))
SYNONYMS = [line.split() for line in _SECTIONS["synonyms"]]
SPELLINGS = [pair.split("/") for pair in words("spellings")]
OPPOSITES = [pair.split("/") for pair in words("opposites")]
OPPOSING_PREFIXES = words("opposing prefixes")
PHRASES = dict(line.split(" = ") for line in _SECTIONS["phrases"])
