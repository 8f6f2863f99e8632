"""What programs, the page and models read names no shell command: remedies stand beside, and the terminal has their commands."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from chiron_api.acts.remedies import request_of
from chiron_api.cli.display.remedies import command_of
from chiron_api.http.document import document
from chiron_api.http.problems import Problem, problem_of
from chiron_api.mcp_server.callers import with_remedies
from chiron_api.mcp_server.tools import client_tools
from chiron_workers.errors import Conflict
from chiron_workers.problems import Noun, Remedy, RemedyAction, resume_webhook

ROOT = Path(__file__).parents[2]
SHELL = re.compile(r"`chiron [a-z]|\bchiron (?:up|open|doctor|migrate) |(?<![\w-])--[a-z][a-z-]+")
# Who reads these has a terminal: settings and services at the start of a process, files of commands, tools of operators.
TERMINAL = {
    "chiron_workers/celery.py",
    "chiron_workers/db/connect.py",
    "chiron_workers/db/migrate.py",
    "chiron_workers/embeddings/minilm.py",
    "chiron_workers/knowledge/search/reembedding.py",
    "chiron_workers/settings/__init__.py",
    "chiron_workers/settings/env_file.py",
    "chiron_workers/settings/local_services.py",
    "chiron_workers/tasks.py",
    "chiron_workers/worker/model_probe.py",
    "chiron_workers/worker/processes.py",
    "chiron_api/atomic_file.py",
    "chiron_api/client/flows/failures.py",
    "chiron_api/crate/documents.py",
    "chiron_api/crate/signatures.py",
    "chiron_api/http/serve.py",
    "chiron_api/reports/crate/sinks.py",
    "chiron_api/reports/formats/note_folder.py",
    "chiron_api/views/model_keys.py",
}
COMMANDS = ("cli", "local_stack", "flower_server", "backup")  # folders of commands
PAGE = "chiron_api/http/page/"  # its templates are held to it beside


def literals(file: Path) -> Iterator[str]:
    """The texts of a module as they are written, those that go on in the next line as one, without docstrings."""
    tree = ast.parse(file.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def sources() -> Iterator[str]:
    for folder in ("chiron_workers", "chiron_api"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT).parts
            name = "/".join(parts)
            if parts[1] not in COMMANDS and not name.startswith(PAGE):
                yield name


def described(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from described(value)
    elif isinstance(node, list):
        for value in node:
            yield from described(value)


def test_no_message_outside_of_the_terminal_names_a_command():
    names = list(sources())
    naming = {name for name in names if any(SHELL.search(text) for text in literals(ROOT / name))}
    assert naming - TERMINAL == set()
    assert TERMINAL & set(names) - naming == set(), "nothing is left there to allow"


def test_the_description_of_the_api_names_no_command():
    texts = list(described(document()))
    assert len(texts) > 1_000
    assert [text for text in texts if SHELL.search(text)] == []


def test_the_tools_of_mcp_name_no_command():
    texts = [
        text for tool in client_tools().all() for text in described([tool.description, tool.input_schema])
    ]
    assert len(texts) > 100
    assert [text for text in texts if SHELL.search(text)] == []


@pytest.mark.parametrize("action", RemedyAction)
def test_a_remedy_of_each_kind_is_a_request_and_a_sentence_without_a_command(action: RemedyAction):
    for noun, target in product(Noun, ("", "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa")):
        remedy = Remedy(action, noun, target)
        refusal = Conflict("It is not possible.", remedies=(remedy,))
        answer = problem_of(refusal)
        assert isinstance(answer, Problem)
        assert answer.remedies == (remedy,)
        for text in (*described(request_of(remedy)), with_remedies(refusal), answer.detail):
            assert not SHELL.search(text)


def test_the_same_remedy_is_a_command_a_request_and_for_a_model_a_tool():
    remedy = resume_webhook("0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa")  # type: ignore[arg-type]
    assert command_of(remedy) == "`chiron webhooks resume 0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa`"
    request = request_of(remedy)
    assert (request["method"], request["path"]) == (
        "POST",
        "/v1/webhooks/0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa/resume",
    )
    run = Remedy(RemedyAction.CANCEL, Noun.RUN, "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa")
    assert with_remedies(Conflict("It is running.", remedies=(run,))) == (
        "It is running. What helps: Cancel the run first (cancel_run)."
    )
