"""Write pages of docs/, .env.example and the client from the code (see `documents`); --check names the stale ones."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import act_tables
import client_methods
import reference
import tool_types
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from chiron_api.cli import load_command
from chiron_api.cli.commands import GROUPS, SUMMARIES
from chiron_workers.settings import Settings
from chiron_workers.settings.env_file import HARMLESS

ROOT = Path(__file__).parents[1]

SETTINGS_HEAD = """# Settings

Chiron reads its settings from the environment. Those marked in the column `.env` may stand in a file of that name in the
folder it is started in as well; the environment wins. A value that cannot be used is refused at the start, with its name and what
would be right. A name that begins with `CHIRON_` and is no setting is ignored; `chiron submit`, `chiron up` and
`chiron doctor` name it. Copy `.env.example` to begin.

A `.env` may have come with the folder, from a stranger. So it sets nothing that names an address, a key, a provider, a file, a
folder or code, and nothing that bounds money, evidence, or what may be fetched and read. Such a name, one that no setting has
and a value that quotes another variable (`${...}`) are refused, with the name; an empty value sets nothing. Names of other
programs are not read at all. Put the rest into the environment:

- `export CHIRON_SEARCH=auto,brave` in the shell or its profile;
- `uv run --env-file .env chiron up`, if the file is yours: what the environment sets too may stand in the file;
- `environment:` of a Compose service, as `docker-compose.yml` does it, which names what each container gets of `.env`, or
  `EnvironmentFile=` of systemd.

Claude itself is configured as the Anthropic SDK documents it: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL`
for another server that speaks the Messages API. The SDK reads the environment only, not `.env`.

| setting | default | `.env` | meaning |
|---|---|---|---|
"""

COMMANDS_HEAD = """# Commands

Every command explains itself with `--help`. Exit codes: 0 done, 1 something failed, 2 the call was wrong, 130
after Ctrl+C. Problems go to standard error as one line. Written by `docs/generate.py`.

`--json` follows one rule: one thing is an object on one line, and a list has one line for each item, so that nothing is printed
for an empty list. `jq -s .` makes an array of lines. `chiron search` and `chiron tools` print an array instead.

Where a time is accepted it is written as `yesterday`, `tuesday`, `7d`, `2h`, `2026-03-01` or `2026-03-01T09:30`. Days begin at
midnight, local time; a weekday is the last one, and where something is to come (`--ready-at`, `--until` of a subscription,
`--expires`) the next one, never today. There `tomorrow` and `7d` count from now. The HTTP API takes ISO 8601,
and where [its tables](http.md) say so these words, too.

You can shorten any id to a unique prefix. `last` is the newest batch of submitted topics: batches of subscriptions, of
reports, of checks and of learning do not count. `last#3` is the run of its third topic. `#3` goes behind any id, prefix or name
of a batch, as in `"Lakes week 1"#3`; a batch of exactly that name wins. Numbers count from 1 in the order of the topics as they
were submitted, and never change.

A batch may be named (in `report` and `export` a subject of that name comes first). The exit code is 1 where nothing has the
id, and where no subject or key has the name; 2 for a text that is no id and names nothing, for a beginning or a name that
several have, and for a batch where a run is asked for.
"""

TOOLS_HEAD = ROOT / "docs/tools_head.md"
ENV_HEAD = """# Copy this file to .env and uncomment what should differ; see docs/settings.md.

# Compose hands each container the variables of this file that docker-compose.yml names for it. A chiron that is started in this
# folder reads only the first part by itself, since such a file may come from a stranger, and refuses the rest. If it is yours:
# `uv run --env-file .env chiron up`.

# Claude. The SDK reads the environment only.
ANTHROPIC_API_KEY=

# Needed by docker-compose.yml only: letters and digits, for example from `openssl rand -hex 24`; the API's key 20 or more.
POSTGRES_PASSWORD=
VALKEY_PASSWORD=
CHIRON_API_KEY=
CHIRON_FLOWER_PASSWORD=
"""
ENV_REST = """
# From here on: taken from the environment only, see above.
"""
NO_DEFAULT = frozenset({"None", "False", "", "()", "[]"})
SET_IN_HEAD = frozenset({"CHIRON_API_KEY", "CHIRON_FLOWER_PASSWORD"})


def documents() -> dict[Path, str]:
    """Each generated file and what it should hold."""
    return {
        ROOT / "docs/settings.md": settings_page(),
        ROOT / "docs/commands.md": commands_page(),
        ROOT / "docs/reference.md": "".join(reference.parts()),
        ROOT / "docs/tools.md": TOOLS_HEAD.read_text() + "".join(tool_types.rows()),
        ROOT / ".env.example": env_example(),
        ROOT / "chiron_api/client/act_methods.py": client_methods.module(),
        ROOT / "docs/client.md": _with_parts("docs/client.md", {"methods": act_tables.client_methods()}),
        ROOT / "docs/http.md": _with_parts(
            "docs/http.md", {"requests": act_tables.requests(), "answers": act_tables.answers()}
        ),
    }


def _with_parts(name: str, parts: dict[str, str]) -> str:
    """A handwritten page with what stands between its markers, each part by its name."""
    text = (ROOT / name).read_text()
    for part, written in parts.items():
        begin, end = f"<!-- {part}: written by docs/generate.py -->\n", f"<!-- end of {part} -->\n"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{written}\n{end}{rest.partition(end)[2]}"
    return text


def settings_page() -> str:
    """The table of every setting."""
    rows = [
        f"| `{name}` | {_code(_default(field))} | {'yes' if name in HARMLESS else ''} | {_cell(field.description or '')} |\n"
        for name, field in _settings()
    ]
    return SETTINGS_HEAD + "".join(rows)


def env_example() -> str:
    """Every setting as a line to uncomment, with its default: first those that the file itself may set."""
    lines = {
        name: f"\n# {field.description}\n# {name}={_default(field)}\n"
        for name, field in _settings()
        if name not in SET_IN_HEAD
    }
    own = [line for name, line in lines.items() if name in HARMLESS]
    rest = [line for name, line in lines.items() if name not in HARMLESS]
    return "".join([ENV_HEAD, *own, ENV_REST, *rest])


def commands_page() -> str:
    """Every command with its arguments and options."""
    overview = "".join(
        f"\n| {title} | |\n|---|---|\n"
        + "".join(
            f"| [`{name}`](#chiron-{name}) | {_cell(text.sentence)} |\n" for name, text in group.items()
        )
        for title, group in GROUPS.items()
    )
    return COMMANDS_HEAD + overview + "".join(_command_text(command, path) for path, command in _commands())


def _settings() -> Iterator[tuple[str, FieldInfo]]:
    for name, field in Settings.model_fields.items():
        yield f"CHIRON_{name.upper()}", field


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        made = field.default_factory()  # type: ignore[call-arg]
        return json.dumps(made) if isinstance(made, dict) else ""  # the home depends on the machine
    if isinstance(field.default, SecretStr):
        return field.default.get_secret_value()
    return str(field.default)


def _commands() -> Iterator[tuple[str, Any]]:
    for name in sorted(SUMMARIES):
        yield from _walk(load_command(name), f"chiron {name}")


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in sorted(command.commands):
        if not command.commands[name].hidden:
            yield from _walk(command.commands[name], f"{path} {name}")


def _command_text(command: Any, path: str) -> str:
    parameters = [param for param in command.params if not getattr(param, "hidden", False)]
    arguments = [param for param in parameters if param.param_type_name == "argument"]
    options = [param for param in parameters if param.param_type_name == "option" and param.name != "help"]
    usage = " ".join(
        [path, *(_usage(argument) for argument in arguments), *(["[OPTIONS]"] if options else [])]
    )
    text = f"\n## {path}\n\n```\n{usage}\n```\n\n{_paragraphs(command.help)}\n"
    rows = [_row(_usage(argument), argument) for argument in arguments]
    rows += [_row(_flags(option), option) for option in options]
    return text + ("\n| | |\n|---|---|\n" + "".join(rows) if rows else "")


def _usage(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name += "..." if argument.nargs != 1 else ""
    return name if argument.required else f"[{name}]"


def _flags(option: Any) -> str:
    return ", ".join([*option.opts, *option.secondary_opts])


def _row(name: str, param: Any) -> str:
    note = " Required." if param.required and param.param_type_name == "option" else ""
    if not (param.required or callable(param.default) or str(param.default) in NO_DEFAULT):
        note = f" Default: {_code(str(param.default))}."
    return f"| `{_cell(name)}` | {_cell(param.help or '')}{note} |\n"


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(
        " ".join(part.split()) for part in (text or "").replace("\b", "").strip().split("\n\n")
    )


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(*, check: bool) -> int:
    """Write the files, or with `check` name those that differ; the exit code."""
    stale = [file for file, text in documents().items() if not file.exists() or file.read_text() != text]
    for file in stale:
        name = file.relative_to(ROOT)
        if check:
            sys.stdout.write(f"{name} is stale: run `uv run python docs/generate.py`.\n")
        else:
            file.write_text(documents()[file])
            sys.stdout.write(f"{name} written.\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
