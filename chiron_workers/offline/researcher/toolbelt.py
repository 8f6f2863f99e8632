"""Which of the offered tools searches, fetches and stores, worked out from their own definitions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chiron_workers.offline.researcher.properties import Purpose, purposes
from chiron_workers.offline.researcher.vocabulary import VOCABULARY
from chiron_workers.offline.researcher.words import parts, words

_SEEKING = VOCABULARY["seeking"]
_PLACES = VOCABULARY["places"]
_REMEMBERED = VOCABULARY["remembered"]
_FETCHING = VOCABULARY["fetching"]
_STORING = VOCABULARY["storing"]
_FINDS = VOCABULARY["finds"]
_OTHERWISE = VOCABULARY["otherwise"]
_READING = VOCABULARY["reading"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the request defines it, with the purpose of each of its properties."""

    name: str
    description: str
    properties: Mapping[str, dict[str, Any]]
    required: frozenset[str]
    purposes: Mapping[Purpose, str]

    def has(self, purpose: Purpose, *, required: bool = False) -> bool:
        """Whether a property serves the purpose (and must be given)."""
        return purpose in self.purposes and (not required or self.purposes[purpose] in self.required)


@dataclass(frozen=True, slots=True)
class Toolbelt:
    """The tools for each step of research; None where none is offered."""

    search: Tool | None
    fetch: Tool | None
    store: Tool | None
    reading: tuple[Tool, ...]  # those that only look things up, for load


def toolbelt(definitions: Iterable[dict[str, Any]]) -> Toolbelt:
    """Sort the tools of a request by what they are for."""
    return _sorted_out(json.dumps(list(definitions)))


@lru_cache(maxsize=64)
def _sorted_out(definitions_json: str) -> Toolbelt:
    definitions: list[dict[str, Any]] = json.loads(definitions_json)
    tools = [
        _tool(definition) for definition in definitions if isinstance(definition.get("input_schema"), dict)
    ]
    search, fetch, store = (_best(tools, measure) for measure in (_searches, _fetches, _stores))
    reading = tuple(tool for tool in tools if tool is search or _only_reads(tool))
    return Toolbelt(search, fetch, store, reading)


def _tool(definition: dict[str, Any]) -> Tool:
    schema = definition["input_schema"]
    properties = {
        name: found for name, found in (schema.get("properties") or {}).items() if isinstance(found, dict)
    }
    required = frozenset(schema.get("required") or ()) & properties.keys()
    description = str(definition.get("description") or "")
    return Tool(str(definition.get("name")), description, properties, required, purposes(properties))


def _best(tools: Sequence[Tool], measure: Any) -> Tool | None:
    ranked = sorted(tools, key=lambda tool: (-measure(tool), tool.name))
    return ranked[0] if ranked and measure(ranked[0]) > 0 else None


def _hits(tool: Tool, vocabulary: frozenset[str]) -> int:
    """How strongly a tool speaks of something: its name counts twice, its first line once for each word."""
    first_line = tool.description.strip().split("\n\n", 1)[0]
    return 2 * len(vocabulary & set(parts(tool.name))) + len(vocabulary & set(words(first_line)))


def _searches(tool: Tool) -> int:
    if (
        not tool.has(Purpose.QUERY)
        or tool.has(Purpose.CONTENT, required=True)
        or tool.has(Purpose.ADDRESS, required=True)
    ):
        return 0
    points = (
        _hits(tool, _SEEKING)
        + _hits(tool, _PLACES)
        - 2 * _hits(tool, _REMEMBERED)
        - 3 * _hits(tool, _OTHERWISE)
    )
    return points + (1 if tool.has(Purpose.QUERY, required=True) else 0)


def _fetches(tool: Tool) -> int:
    if (
        not tool.has(Purpose.ADDRESS, required=True)
        or tool.has(Purpose.CONTENT)
        or tool.has(Purpose.QUERY, required=True)
    ):
        return 0
    return (
        2
        + _hits(tool, _FETCHING)
        + _hits(tool, _PLACES)
        - 3 * _hits(tool, _OTHERWISE)
        - 2 * _hits(tool, _STORING)
    )


def _stores(tool: Tool) -> int:
    if not tool.has(Purpose.CONTENT) or not (tool.has(Purpose.ADDRESS) or tool.has(Purpose.QUOTE)):
        return 0
    extras = sum(
        tool.has(purpose) for purpose in (Purpose.QUOTE, Purpose.SCORE, Purpose.CONFIDENCE, Purpose.ADDRESS)
    )
    return extras + _hits(tool, _STORING) + _hits(tool, _FINDS) - 3 * _hits(tool, _OTHERWISE)


def _only_reads(tool: Tool) -> bool:
    """A tool that looks something up and asks for nothing but a query or the subject."""
    known = {tool.purposes[purpose] for purpose in (Purpose.QUERY, Purpose.SUBJECT) if tool.has(purpose)}
    return bool(_READING & set(parts(tool.name))) and tool.required <= known
