"""Every act that can have a model or a paid service called stands in the table of docs/budgets.md, which says who pays."""

import ast
import re
from pathlib import Path

from chiron_api.http.document import document
from chiron_api.rights import OPERATIONS

ROOT = Path(__file__).parents[1]
# What makes a run that may call a model, or has one go on, and what has a key pay for a service.
PAID = {
    "chiron_workers.batches.submit": {"submit", "submit_within"},
    "chiron_workers.batches.steering": {"resume", "retry"},
    "chiron_workers.runs.leases": {"say"},
    "chiron_workers.access.allotments": {"pay"},
}
# They order by themselves what costs money, and say where they are shown that a key has too little.
UNREFUSED = {
    "POST /v1/quizzes/{id}/answers",
    "POST /v1/subjects/{id}/journey",
    "POST /v1/journeys/{id}/read",
    "POST /v1/subscriptions",
    "POST /v1/knowledge/search",
    "POST /v1/tools/{name}",
}


def column(name: str) -> set[str]:
    """The names in a column of the table."""
    lines = (ROOT / "docs/budgets.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    place = rows[0].index(name)
    return {word for row in rows[2:] for word in re.findall(r"`([^`]+)`", row[place])}


def paid_names(file: Path) -> set[str]:
    """The functions that start paid calls, as far as a module imports them."""
    tree = ast.parse(file.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {
        alias.name
        for node in imports
        for alias in node.names
        if alias.name in PAID.get(node.module or "", ())
    }
    modules = [
        alias.name for node in imports if node.module == "chiron_workers.batches" for alias in node.names
    ]
    if "steering" in modules:
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {
            "resume",
            "retry",
        }
    return names


def test_the_table_names_every_module_that_starts_paid_calls():
    files = [*ROOT.glob("chiron_workers/**/*.py"), *ROOT.glob("chiron_api/**/*.py")]
    assert {file.relative_to(ROOT).as_posix() for file in files if paid_names(file)} == column("in")


def test_the_table_names_every_operation_that_a_key_may_be_refused():
    refused = {
        f"{method.upper()} {path}"
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
        if "402" in operation.get("responses", {})
    }
    assert refused | UNREFUSED == column("HTTP")


def test_the_table_names_every_route_and_tool_that_costs_money_by_the_table_of_rights():
    paid = {face for operation in OPERATIONS if operation.costs_money for face in operation.faces}
    assert {face for face in paid if " /v1/" in face} == column("HTTP")
    assert {face.removeprefix("tool ") for face in paid if face.startswith("tool ")} == column("MCP")


def test_the_table_names_only_commands_that_there_are():
    headings = (ROOT / "docs/commands.md").read_text()
    commands = {command.partition(" --")[0] for command in column("command")}
    assert {command for command in commands if f"\n## {command}\n" not in headings} == set()
