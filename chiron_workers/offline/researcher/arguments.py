"""Arguments for a tool call, from what is known for each purpose; and other ones after an error."""

import re
from collections.abc import Mapping
from typing import Any

from chiron_workers.offline.researcher import properties
from chiron_workers.offline.researcher.properties import Purpose
from chiron_workers.offline.researcher.toolbelt import Tool

_PASSING = re.compile(
    r"time[d ]?-?out|temporar|try (?:it )?again|unavailable|overloaded|not run|interrupted|connection", re.I
)


def fill(tool: Tool, values: Mapping[Purpose, Any], *, said: str, asked: str) -> dict[str, Any]:
    """Arguments in the form each property asks for, in the order of the definition.

    Args:
        tool: Whose properties are filled: those with a value, the subject, and every required one.
        values: What is known for each purpose.
        said: The conversation, in which the subject and other named values are looked up.
        asked: The topic, for required strings whose purpose is not clear.
    """
    found: dict[str, Any] = {}
    for purpose, name in tool.purposes.items():
        if purpose is Purpose.SUBJECT:
            found[name] = properties.subject(name, said, asked)
        elif purpose in values:
            found[name] = properties.fitted(values[purpose], tool.properties[name])
    for name in tool.required - found.keys():
        found[name] = properties.plain(name, tool.properties[name], said=said, topic=asked)
    return {name: found[name] for name in tool.properties if name in found}


def mended(
    tool: Tool, arguments: Mapping[str, Any], error: str, *, said: str, asked: str
) -> dict[str, Any] | None:
    """Arguments for a second try: without the optional ones that the error names, with the ones it misses.

    The same ones after an error that passes by itself, only the required ones after an error that names none; None
    where nothing is left to change.
    """
    names = {*tool.properties, *arguments}
    named = {name for name in names if re.search(rf"\b{re.escape(name)}\b", error)}
    kept = {name: value for name, value in arguments.items() if name not in named or name in tool.required}
    for name in sorted(named - arguments.keys()):
        kept[name] = properties.plain(name, tool.properties[name], said=said, topic=asked)
    if kept != arguments or _PASSING.search(error):
        return kept
    required = {name: value for name, value in arguments.items() if name in tool.required}
    return required if required != arguments and not named else None
