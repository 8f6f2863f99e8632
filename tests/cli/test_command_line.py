import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from support import bare_interpreter
from support.worker_processes import environment
from typer.testing import Result

import chiron_api.cli
from chiron_api.cli import load_command, raise_on_sigterm
from chiron_api.cli.commands import GROUPS, SUMMARIES
from chiron_workers.settings import Settings

# What may be imported beside the standard library and the libraries' own parts.
FOR_HELP = {"chiron_api", "chiron_workers", "typer", "annotated_doc", "shellingham"}
FOR_SHOW = FOR_HELP | {
    "annotated_types",
    "dotenv",
    "platformdirs",
    "psycopg",
    "psycopg_binary",
    "psycopg_c",
    "psycopg_pool",
    "pydantic",
    "pydantic_core",
    "pydantic_settings",
    "typing_extensions",
    "typing_inspection",
    "uuid_utils",
}
# What takes a tenth of a second and more, or is for workers and servers alone.
HEAVY = {
    "aiohttp", "anthropic", "celery", "duckdb", "fastapi", "httpx2", "kombu", "numpy", "onnxruntime", "opentelemetry",
    "prometheus_client", "redis", "rich", "starlette", "structlog", "uvicorn", "xlsxwriter", "yaml",
}  # fmt: skip


# What statements, answers and texts are judged by: a tenth of a second, for workers and for commands that write.
JUDGING = (
    "chiron_workers.documents.sandbox",
    "chiron_workers.evidence.figures",
    "chiron_workers.evidence.quotes.quotes",
    "chiron_workers.evidence.statements",
    "chiron_workers.knowledge.drafts.sections",
    "chiron_workers.knowledge.facts.verdicts",
)


def program(*arguments: str) -> str:
    """A Python program that runs a command."""
    return f"import sys; sys.argv[1:] = {arguments}; from chiron_api.cli import build; build()(standalone_mode=False)"


def test_the_overview_imports_no_command() -> None:
    assert bare_interpreter.run(program("--help")).packages <= FOR_HELP


def test_listing_and_showing_import_neither_numpy_nor_rich_nor_what_only_other_commands_need(
    chiron: Callable[..., Result], settings: Settings
) -> None:
    assert chiron("submit", "Tides", "--subject", "Moon").exit_code == 0
    programs = {"list": program("list"), "show": program("show", "last")}
    outcomes = bare_interpreter.run_each(programs, env=environment(settings))
    assert all("Tides" in outcome.output for outcome in outcomes.values())
    extra = {name: outcome.packages - FOR_SHOW for name, outcome in outcomes.items()}
    assert extra == {"list": set(), "show": set()}


def imports_of_helps(names: Iterable[str], is_unwanted: Callable[[str], bool]) -> dict[str, list[str]]:
    """The unwanted modules that showing the help of commands imports, by command."""
    programs = {name: program(name, "--help") for name in names}
    # What all of them together leave out each of them leaves out, and libraries are imported once.
    together = bare_interpreter.run("\n".join(programs.values()))
    assert together.output.count("Usage: ") == len(programs)
    if not any(map(is_unwanted, together.modules)):
        return {}
    outcomes = bare_interpreter.run_each(programs)
    modules = {name: sorted(filter(is_unwanted, outcome.modules)) for name, outcome in outcomes.items()}
    return {name: unwanted for name, unwanted in modules.items() if unwanted}


def test_the_help_of_a_command_imports_no_library_that_only_its_work_needs() -> None:
    assert imports_of_helps(SUMMARIES, lambda module: module.partition(".")[0] in HEAVY) == {}


def test_the_help_of_a_command_that_reads_imports_nothing_that_judges() -> None:
    readers = ("import", "learn", "list", "report", "results", "search", "show")
    assert imports_of_helps(readers, lambda module: module.startswith(JUDGING)) == {}


def test_the_overview_names_every_command_there_is() -> None:
    folder = Path(chiron_api.cli.__path__[0])
    files = [file for file in folder.glob("**/*.py") if "typer.Typer(" in file.read_text()]
    modules = {file.stem if file.parent == folder else file.parent.name for file in files} - {"__init__"}
    assert {summary.module for summary in SUMMARIES.values()} == modules
    for module in modules:
        app = importlib.import_module(f"chiron_api.cli.{module}").cli
        name_of_group = app.info.name if isinstance(app.info.name, str) else None
        names = (
            {name_of_group}
            if name_of_group
            else {
                entry.name or entry.callback.__name__.replace("_", "-") for entry in app.registered_commands
            }
        )
        assert names == {name for name, summary in SUMMARIES.items() if summary.module == module}


def test_the_overview_loses_nothing_at_80_columns(chiron: Callable[..., Result]) -> None:
    overview = chiron("--help").output
    assert max(map(len, overview.splitlines())) <= 80
    for title, group in GROUPS.items():
        assert f"{title}:" in overview
        for name, summary in group.items():
            assert re.search(rf"^  {name} +{re.escape(summary.sentence)}$", overview, re.M), name


def test_help_cuts_no_sentence(chiron: Callable[..., Result]) -> None:
    faults = [
        f"{' '.join(command)}: {line}"
        for name in SUMMARIES
        for command in ((name,), *((name, part) for part in getattr(load_command(name), "commands", ())))
        for number, line in enumerate(chiron(*command, "--help").output.splitlines())
        if len(line) > 80 or (number and line.endswith(("...", "…")))
    ]
    assert faults == []


def test_the_version_is_that_of_the_package(chiron: Callable[..., Result]) -> None:
    assert chiron("--version").output == f"chiron {version('chiron')}\n"


def test_a_shell_completes_commands_and_options() -> None:
    def completions(words: str) -> str:
        environment = os.environ | {
            "_CHIRON_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        process = subprocess.run(
            [Path(sys.executable).with_name("chiron")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return process.stdout

    assert completions("chiron sub").split() == ["submit", "subscriptions"]
    assert "--dry-run" in completions("chiron submit --dr")


@pytest.fixture
def restored_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("restored_handlers")
def test_a_command_ends_by_sigterm_as_by_ctrl_c_and_goes_on_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise_on_sigterm()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


# What serves until it is stopped, and what writes a document whose form `--format` names alone.
WITHOUT_JSON = {"api", "export", "flower", "mcp", "offline-model", "up", "worker"}


def test_every_command_that_says_something_says_it_as_json_too() -> None:
    faults = [
        f"{name} {command.name}"
        for name in SUMMARIES
        for command in leaves(load_command(name))
        if any("--json" in param.opts for param in command.params) == (name in WITHOUT_JSON)
    ]
    assert faults == []


def test_an_option_has_the_same_short_name_everywhere() -> None:
    short_names = {"--subject": "-s", "--output": "-o", "--format": "-f", "--yes": "-y"}
    faults = [
        f"{name} {command.name} {option}"
        for name in SUMMARIES
        for command in leaves(load_command(name))
        for param in command.params
        for option, short_name in short_names.items()
        if option in param.opts and short_name not in param.opts
    ]
    assert faults == []


def leaves(command: Any) -> list[Any]:
    inner = getattr(command, "commands", {}).values()
    return [leaf for part in inner for leaf in leaves(part)] or [command]


def test_a_choice_that_there_is_not_is_refused_in_plain_words(chiron) -> None:
    refusal = chiron("report", "birds", "--format", "xyz")
    assert (refusal.exit_code, "Value error" in refusal.output) == (2, False)
    assert "Invalid value for '--format' / '-f': 'xyz' is not one of 'md'" in refusal.output
    assert "Value error" not in chiron("learn", "map", "birds", "--format", "xyz").output


# What is typed, and what the line has beside the mistake.
MISTAKES = {
    ("serach", "ice"): "There is no command 'serach'. Did you mean search",
    ("corpus", "ad", "x"): "There is no command 'ad'. Did you mean add?",
    ("search", "ice", "--tpo-k", "3"): "There is no option --tpo-k. Did you mean --top-k?",
    ("search",): "Missing argument 'query'.",
    ("search", "ice", "snow"): "Got unexpected extra argument (snow).",
    ("search", "ice", "--top-k"): "Option '--top-k' requires an argument.",
    ("search", "ice", "--since", "sonn"): "'--since': must be a time such as yesterday, tuesday, 7d, 2h,",
    ("--verson",): "There is no option --verson. Did you mean --version?",
    ("keys", "create", "ada"): "Missing option '--scope'. Choose from: read, submit, admin.",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_wrong_call_is_answered_with_one_line(
    chiron: Callable[..., Result], arguments: tuple[str, ...]
) -> None:
    refusal = chiron(*arguments)
    [line] = refusal.stderr.splitlines()
    assert (refusal.exit_code, refusal.stdout) == (2, "")
    assert line.startswith("chiron: ")
    assert MISTAKES[arguments] in line
