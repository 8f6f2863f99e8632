"""Write docs/settings.md, docs/commands.md, docs/tools.md and .env.example from the code; --check names the stale ones."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tool_types
import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from chiron_api.cli import build
from chiron_workers.settings import Settings
from chiron_workers.settings.env_file import RUN_CODE

ROOT = Path(__file__).parents[1]

SETTINGS_HEAD = """# Settings

Chiron reads its settings from the environment or from a file `.env` in the folder it is started in; the
environment wins. What names code or files to read (`CHIRON_FILES`, `CHIRON_HOME`, `CHIRON_TOOLS`, `CHIRON_TRUSTED_SKILLS`,
`CHIRON_MCP_SERVERS`, a search provider of your own) is taken from the environment only: a folder that came from elsewhere may
bring a `.env`. A value that cannot be used is refused at the start, with its name and what would be right.
Copy `.env.example` to begin.

Claude itself is configured as the Anthropic SDK documents it: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL`
for another server that speaks the Messages API. The SDK reads the environment only, not `.env`.

| setting | default | meaning |
|---|---|---|
"""

COMMANDS_HEAD = """# Commands

Every command explains itself with `--help`. Exit codes: 0 done, 1 something failed, 2 the call was wrong, 130
after Ctrl+C. Problems go to standard error as one line. Written by `docs/generate.py`.
"""

TOOLS_HEAD = ROOT / "docs/tools_head.md"
ENV_HEAD = """# Copy this file to .env and uncomment what should differ; see docs/settings.md.

# Claude. The SDK reads the environment only: `uv run --env-file .env chiron up`. Compose passes it on.
ANTHROPIC_API_KEY=

# Needed by docker-compose.yml only: letters and digits, for example from `openssl rand -hex 24`.
POSTGRES_PASSWORD=
VALKEY_PASSWORD=
CHIRON_API_KEY=
CHIRON_FLOWER_PASSWORD=
"""
NO_DEFAULT = frozenset({"None", "False", "", "()", "[]"})
SET_IN_HEAD = frozenset({"CHIRON_API_KEY", "CHIRON_FLOWER_PASSWORD"})


def documents() -> dict[Path, str]:
    """Each generated file and what it should hold."""
    return {
        ROOT / "docs/settings.md": settings_page(),
        ROOT / "docs/commands.md": commands_page(),
        ROOT / "docs/tools.md": TOOLS_HEAD.read_text() + "".join(tool_types.rows()),
        ROOT / ".env.example": env_example(),
    }


def settings_page() -> str:
    """The table of every setting."""
    rows = [
        f"| `{name}` | {_code(_default(field))} | {_cell(field.description or '')} |\n"
        for name, field in _settings()
    ]
    return SETTINGS_HEAD + "".join(rows)


def env_example() -> str:
    """Every setting as a line to uncomment, with its default."""
    lines = [
        f"\n# {field.description}\n# {_line(name, field)}\n"
        for name, field in _settings()
        if name not in SET_IN_HEAD
    ]
    return ENV_HEAD + "".join(lines)


def _line(name: str, field: FieldInfo) -> str:
    return f"{name}: in the environment only" if name in RUN_CODE else f"{name}={_default(field)}"


def commands_page() -> str:
    """Every command with its arguments and options."""
    return COMMANDS_HEAD + "".join(_command_text(command, path) for path, command in _commands())


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
    yield from _walk(typer.main.get_command(build()), "chiron")


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
