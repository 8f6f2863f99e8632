import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.worker_processes import chiron as command_of
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


def modules_of(code: str) -> set[str]:
    """The modules that a program imports, as `-X importtime` names them."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    lines = [line for line in process.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def imported_by(code: str) -> set[str]:
    """The packages that a program imports, without those of the standard library."""
    packages = {module.partition(".")[0] for module in modules_of(code)} - sys.stdlib_module_names
    # Libraries also try what is not there.
    return {name for name in packages - {"sitecustomize"} if name.isidentifier() and find_spec(name)}


def test_the_overview_imports_no_command() -> None:
    code = "import sys; sys.argv[1:] = ['--help']; from chiron_api.cli import build; build()(standalone_mode=False)"
    assert imported_by(code) <= FOR_HELP


@pytest.mark.parametrize("arguments", [["list"], ["show", "last"]], ids=lambda arguments: arguments[0])
def test_listing_and_showing_import_neither_numpy_nor_rich_nor_what_only_other_commands_need(
    arguments: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command_of(settings, "submit", "Tides", "--subject", "Moon").returncode == 0
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    code = f"import sys; sys.argv[1:] = {arguments}; from chiron_api.cli import build; build()(standalone_mode=False)"
    assert imported_by(code) <= FOR_SHOW


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_the_help_of_a_command_imports_no_library_that_only_its_work_needs(name: str) -> None:
    code = f"import sys; sys.argv[1:] = [{name!r}, '--help']; from chiron_api.cli import build; build()(standalone_mode=False)"
    assert imported_by(code) & HEAVY == set()


@pytest.mark.parametrize("name", ["import", "learn", "list", "report", "results", "search", "show"])
def test_the_help_of_a_command_that_reads_imports_nothing_that_judges(name: str) -> None:
    code = f"import sys; sys.argv[1:] = [{name!r}, '--help']; from chiron_api.cli import build; build()(standalone_mode=False)"
    assert [module for module in sorted(modules_of(code)) if module.startswith(JUDGING)] == []


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


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_help_cuts_no_sentence(chiron: Callable[..., Result], name: str) -> None:
    for command in ("", *getattr(load_command(name), "commands", ())):
        lines = chiron(name, *filter(None, [command]), "--help").output.splitlines()
        assert max(map(len, lines)) <= 80
        assert [line for line in lines[1:] if line.endswith(("...", "…"))] == []


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


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_every_command_that_says_something_says_it_as_json_too(name: str) -> None:
    for command in leaves(load_command(name)):
        has_json = any("--json" in param.opts for param in command.params)
        assert has_json == (name not in WITHOUT_JSON), command.name


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_an_option_has_the_same_short_name_everywhere(name: str) -> None:
    short_names = {"--subject": "-s", "--output": "-o", "--format": "-f", "--yes": "-y"}
    for command in leaves(load_command(name)):
        for param in command.params:
            for option, short_name in short_names.items():
                assert option not in param.opts or short_name in param.opts, command.name


def leaves(command: Any) -> list[Any]:
    inner = getattr(command, "commands", {}).values()
    return [leaf for part in inner for leaf in leaves(part)] or [command]


def test_a_choice_that_there_is_not_is_refused_in_plain_words(chiron) -> None:
    refusal = chiron("report", "birds", "--format", "xyz")
    assert (refusal.exit_code, "Value error" in refusal.output) == (2, False)
    assert "Invalid value for '--format' / '-f': 'xyz' is not one of 'md'" in refusal.output
    assert "Value error" not in chiron("learn", "map", "birds", "--format", "xyz").output
