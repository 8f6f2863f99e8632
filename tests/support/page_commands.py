"""Commands and options of a shell that a page shows, where a person has buttons, links and forms."""

import re

from chiron_api.cli.commands import GROUPS

NAMES = sorted({name for group in GROUPS.values() for name in group})
COMMAND = re.compile(rf"\bchiron (?:{'|'.join(map(re.escape, NAMES))})\b")
OPTION = re.compile(r"(?:(?<=[\s(>`])|^)--[a-z][\w-]*", re.MULTILINE)


def commands_in(html: str) -> list[str]:
    """The commands and options in a page, or in a template."""
    return COMMAND.findall(html) + OPTION.findall(html)
