"""The words of `vocabulary.txt`, by section: what says nothing, what negates, what restricts, what is opposite."""

import re
from pathlib import Path


def _sections() -> dict[str, list[str]]:
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for line in (line for line in lines if line and not line.startswith("#")):
        if heading := re.fullmatch(r"\[(.+)\]", line):
            section = found.setdefault(heading[1], [])
        else:
            section.append(line)
    return found


def _pair(written: str) -> tuple[str, str]:
    one, _, other = written.partition("/")
    return one, other


_SECTIONS = _sections()


def words(section: str) -> list[str]:
    """The words of a section, in their order."""
    return [word for line in _SECTIONS[section] for word in line.split()]


SILENT = frozenset(words("silent"))
NEGATIONS = frozenset(words("negations"))
EMPTY_AFTER_NEGATION = frozenset(words("empty after negation"))
PARTICLES = frozenset(words("particles"))
HEDGES = frozenset(words("hedges"))
RESTRICTIONS = frozenset(words("restrictions"))
CONDITION_OPENERS = frozenset(words("condition openers"))
PHRASE_OPENERS = frozenset(words("phrase openers"))
ENGLISH = frozenset(words("english"))
FOREIGN = frozenset(words("foreign"))
CUES = frozenset(words("cues"))
SETTINGS = frozenset(words("settings"))
BASES = frozenset(words("bases"))
SPELLINGS = [_pair(written) for written in words("spellings")]
SYNONYMS = [line.split() for line in _SECTIONS["synonyms"]]
OPPOSITES = [_pair(written) for written in words("opposites")]
RELATIVE_OPPOSITES = [_pair(written) for written in words("relative opposites")]
OPPOSING_PREFIXES = tuple(words("opposing prefixes"))
NO_OPPOSITES = frozenset(_pair(written) for written in words("no opposites"))
PHRASES = {written: word for written, _, word in (line.partition(" = ") for line in _SECTIONS["phrases"])}
ONE_NAME = {
    tuple(written.split()): name
    for written, _, name in (line.partition(" = ") for line in _SECTIONS["one name"])
}
