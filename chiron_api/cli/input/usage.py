"""Usage errors as one line: the mistake, and the help to read."""

import re
from typing import Any

import typer
from typer.core import TyperGroup

# Messages of pydantic, which typer passes on, in our words.
PLAIN_WORDS = {
    "^Value error, ": "",
    "^Input should be greater than or equal to (.+)": r"must be at least \1.",
    "^Input should be less than or equal to (.+)": r"must be at most \1.",
    "^Input should be a valid integer.*": "must be a whole number.",
    "^Input should be a valid number.*": "must be a number.",
}


# Words of other programs for our commands.
SYNONYMS = (
    {"delete", "remove", "rm", "del", "drop", "revoke"},
    {"list", "ls"},
    {"add", "create", "new", "make"},
    {"submit", "run", "start", "ask", "research"},
    {"show", "get", "view", "info", "describe", "cat", "batch"},
    {"cancel", "stop", "kill", "abort"},
    {"watch", "tail", "follow"},
    {"subscriptions", "schedules", "schedule"},  # the page says schedules
)


class SuggestingGroup(TyperGroup):
    """Commands that suggest the nearest names for an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # the base class has it
        """The command that the arguments begin with."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-") and not ctx.resilient_parsing:
            from chiron_workers.nearest import suggestion

            synonyms = [name for words in SYNONYMS if args[0] in words for name in names if name in words]
            hint = f" Did you mean {' or '.join(synonyms)}?" if synonyms else suggestion(args[0], names)
            ctx.fail(f"There is no command {args[0][:60]!r}.{hint}")
        return super().resolve_command(ctx, args)


def usage_sentence(error: Any) -> str:
    """A usage error in one line.

    Args:
        error: As typer raises it: a `ClickException`, which has no public name.
    """
    if isinstance(error, typer.BadParameter):
        for pattern, words in PLAIN_WORDS.items():
            error.message = re.sub(pattern, words, error.message)
        is_complete = bool(error.message)  # without one, a value is missing
    else:
        is_complete = False
    sentence = " ".join(error.format_message().split()).rstrip(".").replace("argument(s)", "argument")
    if name := getattr(error, "option_name", ""):
        sentence = _option_sentence(error, name, sentence)
    sentence += "" if sentence.endswith("?") else "."
    if is_complete or error.ctx is None:
        return sentence
    return f"{sentence} `{error.ctx.command_path} --help` shows how to call it."


def _option_sentence(error: Any, name: str, sentence: str) -> str:
    if not sentence.startswith("No such option"):
        return sentence
    from chiron_workers.nearest import nearest

    # With its hyphens, which all options share, anything short is near.
    possibilities = [
        option for option in error.possibilities or () if nearest(name.strip("-"), [option.strip("-")])
    ]
    if error.ctx is not None and error.ctx.parent is None and not possibilities:
        return f"There is no option {name[:60]} before a command; options of a command come after it"
    near = " or ".join(sorted(possibilities))
    return f"There is no option {name[:60]}{f'. Did you mean {near}?' if near else ''}"
