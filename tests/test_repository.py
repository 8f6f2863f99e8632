"""What must stay true of the repository as a whole: documents complete, words written once, pins in step."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from chiron_api.cli import load_command
from chiron_api.cli.commands import SUMMARIES
from chiron_workers.db.migrate import migrations
from chiron_workers.runs.event_fields import FIELDS
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.env_file import HARMLESS
from chiron_workers.states import (
    AccessScope,
    AllotmentAct,
    BatchKind,
    BudgetPeriod,
    ChangeKind,
    Decider,
    DeliveryState,
    Duty,
    Effort,
    EventKind,
    FactStatus,
    Ground,
    LessonState,
    Mark,
    Marker,
    Meeting,
    NoticeKind,
    QuestionKind,
    QuoteState,
    Relation,
    RunState,
    SourceKind,
    StopRequest,
    SubscriptionState,
    ThinkingMode,
    Verdict,
    WebhookFormat,
    WebhookState,
)

ROOT = Path(__file__).parents[1]
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
SETTINGS = [f"CHIRON_{name.upper()}" for name in Settings.model_fields]
# The words of each CHECK.
WORDS = {
    "runs_state_is_known": set(RunState),
    "batches_kind_is_known": set(BatchKind),
    "runs_stop_requested_is_known": set(StopRequest),
    "runs_thinking_is_known": set(ThinkingMode),
    "runs_effort_is_known": set(Effort),
    "events_kind_is_known": set(EventKind) - {EventKind.TEXT_DELTA, EventKind.SNAPSHOT},
    "facts_status_is_known": set(FactStatus),
    "run_facts_how_is_known": set(Meeting),
    "facts_ground_is_known": set(Ground),
    "corroborations_ground_is_known": set(Ground),
    "facts_quote_state_is_known": set(QuoteState),
    "corroborations_quote_state_is_known": set(QuoteState),
    "fact_links_relation_is_known": set(Relation) - {Relation.SAME, Relation.NEW},
    "fact_links_decided_by_is_known": set(Decider),
    "judgements_relation_is_known": set(Relation),
    "facts_verdict_is_known": set(Verdict),
    "questions_kind_is_known": set(QuestionKind),
    "assessments_mark_is_known": set(Mark),
    "assessments_marked_by_is_known": set(Marker),
    "corroborations_verdict_is_known": set(Verdict),
    "facts_source_kind_is_known": set(SourceKind),
    "corroborations_source_kind_is_known": set(SourceKind),
    "fetches_stated_kind_is_known": {SourceKind.EXPERT, SourceKind.USER_GENERATED},
    "verdicts_verdict_is_known": set(Verdict) - {Verdict.UNCHECKED},
    "source_changes_kind_is_known": set(ChangeKind),
    "subscriptions_state_is_known": set(SubscriptionState),
    "access_keys_scope_is_known": set(AccessScope),
    "access_keys_budget_period_is_known": set(BudgetPeriod),
    "allotments_act_is_known": set(AllotmentAct),
    "webhooks_format_is_known": set(WebhookFormat),
    "webhooks_state_is_known": set(WebhookState),
    "lessons_state_is_known": set(LessonState),
    "duty_failures_duty_is_known": set(Duty),
    "deliveries_kind_is_known": set(NoticeKind),
    "deliveries_state_is_known": set(DeliveryState),
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(command: object = None, path: str = "chiron") -> list[str]:
    """Every command that a person can type, such as `chiron corpus add`."""
    inner = getattr(command, "commands", {}) if command else all_commands()
    return [found for name in inner for found in commands(inner[name], f"{path} {name}")] or [path]


def all_commands() -> dict[str, Any]:
    return {name: load_command(name) for name in SUMMARIES}


def words_of_check(database_url: str, constraint: str) -> set[str]:
    with psycopg.connect(database_url) as connection:
        query = "select pg_get_constraintdef(oid) from pg_constraint where conname = %s"
        [definition] = connection.execute(query, (constraint,)).fetchone()
    return set(re.findall(r"'([^']+)'", definition))


def test_every_setting_is_documented():
    faults = [
        f"{page}: {name}"
        for page in ("docs/settings.md", ".env.example")
        for name in SETTINGS
        if not re.search(rf"\b{name}\b", (ROOT / page).read_text())
    ]
    assert faults == []


def test_every_command_is_documented():
    text = (ROOT / "docs/commands.md").read_text()
    assert [path for path in commands() if f"\n## {path}\n" not in text] == []


def test_every_command_and_option_says_what_it_does():
    def silent(command: Any, path: str) -> list[str]:
        if inner := getattr(command, "commands", None):
            return [found for name in inner for found in silent(inner[name], f"{path} {name}")]
        missing = [f"{path} {param.name}" for param in command.params if not param.help]
        return missing if command.help else [path, *missing]

    faults = [silent(command, f"chiron {name}") for name, command in all_commands().items()]
    assert [fault for of_command in faults for fault in of_command] == []


def test_the_generated_pages_are_up_to_date():
    check = [sys.executable, "docs/generate.py", "--check"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def test_the_env_example_sets_nothing_by_itself():
    lines = (ROOT / ".env.example").read_text().splitlines()
    assert all(line.endswith("=") for line in lines if line and not line.startswith("#"))


def test_every_line_of_the_env_example_is_the_default_as_it_must_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    lines = (ROOT / ".env.example").read_text().splitlines()
    filled = [line.removeprefix("# ") for line in lines if re.match(r"# CHIRON_\w+=.", line)]
    own = [line for line in filled if line.partition("=")[0] in HARMLESS]
    (tmp_path / ".env").write_text("\n".join(own))
    for name, _, value in (line.partition("=") for line in filled if line not in own):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert len(own) > 20
    assert len(filled) > len(own)
    assert read_settings() == Settings(_env_file=None)


def test_a_copy_of_the_env_example_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".env").write_bytes((ROOT / ".env.example").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert read_settings() == Settings(_env_file=None)


def test_the_schema_knows_the_same_words(database_url: str):
    of_checks = {constraint: words_of_check(database_url, constraint) for constraint in WORDS}
    assert of_checks == {constraint: set(map(str, words)) for constraint, words in WORDS.items()}


def test_no_two_migrations_have_the_same_number():
    versions = [found.version for found in migrations()]
    assert versions == sorted(set(versions))


def test_every_sql_file_lies_beside_its_module():
    files = [file for file in (ROOT / "chiron_workers").rglob("*.sql") if file.parent.name != "migrations"]
    assert [file.name for file in files if not file.with_suffix(".py").exists()] == []


def test_no_function_passes_the_wall():
    def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        docstring = ast.get_docstring(node, clean=False) or ""
        return node.end_lineno - node.lineno - docstring.count("\n")

    long = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
        for package in ("chiron_workers", "chiron_api")
        for file in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > 70
    ]
    assert long == []


def requirements() -> dict[str, list[str]]:
    """The hashes of each line of requirements.txt."""
    lines = (ROOT / "requirements.txt").read_text().replace(" \\\n    ", "\n    ").splitlines()
    hashes: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("    "):
            hashes[next(reversed(hashes))].append(line.strip())
        else:
            hashes[line] = []
    return hashes


def test_requirements_are_exact_pins_with_hashes_and_without_addresses():
    for line, hashes in requirements().items():
        assert re.fullmatch(r"[a-z0-9.-]+(\[[a-z,]+\])?==[\w.+!-]+( ; .+)?", line), line
        assert hashes, f"{line} has no hash: run `just requirements`"
        assert [text for text in hashes if not re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", text)] == []
    assert (
        "pip install --no-cache-dir --require-hashes --requirement requirements.txt"
        in (ROOT / "deploy/Dockerfile").read_text()
    )


def test_requirements_pin_what_the_project_asks_for_and_all_that_it_brings():
    pins = {}
    for line in requirements():
        pin = Requirement(line)
        if pin.marker is None or pin.marker.evaluate():
            pins[canonicalize_name(pin.name)] = pin
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    waiting, seen = [Requirement(line) for line in declared], set()
    while waiting:
        wanted = waiting.pop()
        if (name := canonicalize_name(wanted.name), key := str(wanted))[1] in seen:
            continue
        seen.add(key)
        assert name in pins, f"{name} is not in requirements.txt: run `just requirements`"
        [version] = pins[name].specifier
        assert wanted.specifier.contains(version.version, prereleases=True), f"{wanted} but {pins[name]}"
        if distribution_version(name) == version.version:  # another version may bring other things
            waiting += brought_by(wanted)


def brought_by(requirement: Requirement) -> list[Requirement]:
    """What an installed distribution asks for in turn, for the extras that are wanted."""
    found = [Requirement(line) for line in requires(requirement.name) or []]
    extras = requirement.extras or {""}
    return [
        one
        for one in found
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras | {""})
    ]


def test_the_architecture_stays_short_enough_to_be_read():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) < 120


def test_every_file_that_is_named_exists():
    faults = [
        f"{name_of(page)}: {path}"
        for page in (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *DECISIONS)
        for path in re.findall(r"(?<!\[)`([\w./-]*\w\.(?:py|sql|md|toml|json))`", page.read_text())
        if not any((folder / path).exists() for folder in (ROOT, ROOT / "chiron_workers", page.parent))
    ]
    assert faults == []


def test_the_architecture_names_functions_where_they_are():
    named = re.findall(r"`([\w/]+\.py)` \(`(?:\w+\.)?(\w+)`\)", (ROOT / "ARCHITECTURE.md").read_text())
    assert len(named) > 10
    missing = []
    for path, function in named:
        file = next(folder / path for folder in (ROOT, ROOT / "chiron_workers") if (folder / path).exists())
        if not re.search(rf"^ *(async def|def|class) {function}\b", file.read_text(), flags=re.MULTILINE):
            missing.append(f"{path}: {function}")
    assert missing == []


def test_every_link_leads_somewhere():
    faults = [
        f"{name_of(page)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert faults == []


def test_every_decision_is_in_the_index_under_its_title_and_has_the_three_parts():
    index = (ROOT / "docs/decisions/README.md").read_text()
    for page in DECISIONS:
        text = page.read_text()
        number, title = re.match(r"# (\d{2,3}) (.+)\n", text).groups()
        assert f"| {number} | [{title}]({page.name}) |" in index
        assert page.name.startswith(f"{number}-")
        assert re.findall(r"^\*\*(\w+)\.\*\*", text, flags=re.MULTILINE) == [
            "Context",
            "Decision",
            "Consequence",
        ]
    assert index.count("\n| ") == len(DECISIONS) + 1  # the empty head of the table


def test_the_readme_begins_with_the_two_commands():
    text = (ROOT / "README.md").read_text()
    head = "\n".join(text.splitlines()[:25])
    assert "pip install uv && uv run --no-dev chiron demo" in head
    assert "uv run pytest" in head


def test_a_page_names_only_commands_that_exist():
    existing = {path.split()[1] for path in commands()}
    pattern = r"^(?:\$ )?(?:uv run (?:--no-dev )?)?chiron ([a-z][a-z-]*)"
    faults = [
        f"{name_of(page)}: chiron {command}"
        for page in PAGES
        for command in re.findall(pattern, page.read_text(), flags=re.MULTILINE)
        if command not in existing
    ]
    assert faults == []


def test_no_blank_line_breaks_a_table():
    faults = [
        f"{name_of(page)}: {block}"
        for page in PAGES
        for block in re.split(r"\n\s*\n", page.read_text())
        if block.startswith("|") and not re.match(r"\|.*\|\n\|[-:| ]+\|", block)
    ]
    assert faults == []


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/README.md").read_text()
    pages = {file.name for file in (ROOT / "docs").glob("*.md")} - {"README.md", "tools_head.md"}
    assert {name for name in pages if f"]({name})" not in index} == set()


def test_every_test_that_the_page_on_security_names_exists():
    text = (ROOT / "docs/security.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    assert len(named) > 40
    assert text.count("::") == len(named)  # none is written otherwise
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE)
    ]
    assert missing == []
    lines = [line for line in text.splitlines() if line.startswith("| ") and "| proved by |" not in line]
    assert [line for line in lines if "::test_" not in line and "| trusted |" not in line] == []


def test_every_kind_of_event_has_its_fields():
    assert FIELDS.keys() == set(EventKind)


def test_each_advisory_lock_has_a_number_of_its_own():
    numbers = [
        number
        for file in (ROOT / "chiron_workers").rglob("*.sql")
        for number in re.findall(r"advisory_xact_lock\((\d+)", file.read_text())
    ]
    assert numbers
    assert len(numbers) == len(set(numbers))


def test_only_our_connections_are_opened_as_those_of_psycopg_keep_the_sockets_of_failed_attempts():
    names = {"psycopg", "AsyncConnection", "Connection"}
    places = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for folder in ("chiron_api", "chiron_workers")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr == "connect"
        and isinstance(node.value, ast.Name)
        and node.value.id in names
    ]
    assert places == []
