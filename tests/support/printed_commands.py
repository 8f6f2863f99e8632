"""Commands that our output names, as a person pastes them."""

import re
import shlex
from typing import Any

from chiron_api.cli import load_command

IN_BACKTICKS = re.compile(r"`(chiron [^`\n]+)`")
ON_A_LINE = re.compile(r"^ {2,}(chiron \S+(?: \S+)*?)(?: {3,}|$)", re.MULTILINE)


def parse(words: list[str]) -> None:
    """Have the parser of our commands read a command, without running it. Raises UsageError."""
    name, *words = words
    command: Any = load_command(name)
    context = command.make_context(name, words)
    while hasattr(command, "commands"):
        words = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, words, parent=context)


def commands_in(output: str) -> list[list[str]]:
    """The arguments of each command that an output names, in backticks or on a line of its own, which our parser reads."""
    lines = [*IN_BACKTICKS.findall(output), *ON_A_LINE.findall(output)]
    commands = [shlex.split(line)[1:] for line in lines]
    for words in commands:
        if words[-1] != "--help":
            parse(words)
    return commands
