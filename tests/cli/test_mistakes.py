"""Mistakes at the terminal: each is answered with one line that helps, and changes nothing.

Exit code 2 is for a wrong call, 1 for what failed. Each table runs against services that are started once.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support import forked_python
from support.worker_processes import chiron as run_chiron
from support.worker_processes import environment
from support.worker_processes import rows as read_rows

from chiron_workers.settings import Settings

SUBMIT = ("submit", "Tides", "-s", "Moon")
AT_ONCE = 2
WITHIN_S = 120  # keeps a test from hanging
LINES_MAX = 3  # an error, and what helps


@dataclass(frozen=True)
class Mistake:
    """A command, and what its answer has to say."""

    arguments: tuple[str, ...]
    words: str
    code: int = 2
    stdin: str = ""
    stdout: str = ""  # a file that output goes to
    env: dict[str, str] = field(default_factory=dict)


def usage(words: str, *arguments: str, **options: Any) -> Mistake:
    return Mistake(arguments, words, 2, **options)


def failure(words: str, *arguments: str, **options: Any) -> Mistake:
    return Mistake(arguments, words, 1, **options)


def option(words: str, *arguments: str) -> Mistake:
    return usage(words, *SUBMIT, *arguments, "--dry-run")


def topics_of(words: str, file: str) -> Mistake:
    return usage(words, "submit", "-f", file, "-s", "Moon")


FILES: dict[str, bytes] = {
    "empty.txt": b"",
    "photo.txt": bytes(range(256)),
    "latin.txt": b"Caf\xe9\n",
    "utf16.txt": "Tides\n".encode("utf-16"),
    "nul.txt": b"Tides\0 of the sea\n",
    "huge.txt": b"word " * 20_000,
    "topics.pdf": b"%PDF-1.4",
    "nocolumn.csv": b"name,year\nTides,2001\n",
    "cells.csv": b"topic,subject\na,b,c\n",
    "blank.csv": b'topic\n"  "\n',
    "lists.yaml": b"- [a, b]\n- [c]\n",
    "broken.yaml": b"- a\n\t- b: [\n",
    "map.yaml": b"topic: x\n",
    "broken.json": b'["a", \n"b"',
    "broken.jsonl": b'{"topic": "x"}\n{"topic": \n',
    "misspelt.jsonl": b'{"topic":"x","budget":3}\n',
    "negative.jsonl": b'{"topic":"x","budget_usd":-3}\n',
    "date.jsonl": b'{"topic":"x","ready_at":"2026-02-30"}\n',
    "array.json": b'{"type":"array"}',
    "photo.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "old.md": b"words of a person\n",
}
COMMANDS = (
    usage("There is no command 'serach'. Did you mean search?", "serach", "ice"),
    usage("There is no command 'help'.", "help"),
    usage("There is no command 'ad'. Did you mean add?", "corpus", "ad", "x"),
    usage("There is no option --budgt-usd. Did you mean", *SUBMIT, "--budgt-usd", "5"),
    usage(
        "There is no option --model before a command; options of a command come after it.",
        "--model",
        "opus",
        "submit",
        "x",
    ),
    usage("Option '--top-k' requires an argument.", "search", "ice", "--top-k"),
    usage("standard input holds no topic.", "submit", "-s", "Moon"),
    usage("say which subject the facts belong to, with --subject.", "submit", "Tides"),
    usage(
        "begins with a long dash. An option begins with hyphens: --subject.",
        "submit",
        "Tides",
        "—subject",
        "M",
    ),
    usage('quotes around it: "How deep is it".', "submit", "How", "deep", "is", "it", "-s", "Lakes"),
    usage("--subject must not be empty.", "submit", "Tides", "-s", ""),
    usage("must be a name with letters or digits (got '!!!').", "submit", "Tides", "-s", "!!!"),
    usage("--subject must have at most 200 characters (got 300).", "submit", "Tides", "-s", "x" * 300),
    usage("Topic 1: The topic is empty.", "submit", "  ", "-s", "Moon"),
    usage(
        "Topic 1: The topic has 90,000 characters; 4,000 are allowed.", "submit", "x" * 90_000, "-s", "Moon"
    ),
    usage("this is a binary file, no text.", "submit", "-", "-s", "Moon", stdin="Tides\0\n"),
)
OPTIONS = (
    option("must be an amount above 0, such as 2.50 (got '-5').", "--budget-usd", "-5"),
    option("must be an amount above 0, such as 2.50 (got '1,5').", "--budget-usd", "1,5"),
    option("at most 10,000,000 USD", "--budget-usd", "1e400"),
    option("'--run-budget-usd': must be an amount above 0", "--run-budget-usd", "nan"),
    option("'--budget-tokens': must be at least 1.", "--budget-tokens", "-1"),
    option("'--max-turns': must be at least 1.", "--max-turns", "0"),
    option("must be between 1 and", "--max-turns", "99999999999999999999"),
    option("'--priority': must be a whole number.", "--priority", "high"),
    option("There is no role 'reserach'; the roles are", "--role", "reserach"),
    option("Did you mean claude-opus-5?", "--model", "opus-5"),
    option("'extreme' is not one of 'low'", "--effort", "extreme"),
    option("must be a time such as tomorrow, tuesday, 7d", "--ready-at", "2026-02-30"),
    option("must be a time such as tomorrow, tuesday, 7d", "--ready-at", "nextweek"),
    option("number 2 is called 'a', as one before it is.", "--columns", "a,a"),
    option("not with both.", "--columns", "a", "--schema", "array.json"),
    option("array.json: a row is an object", "--schema", "array.json"),
    option("missing.json cannot be read: No such file", "--schema", "missing.json"),
    option("'--concurrency': must be at least 1.", "--concurrency", "-1"),
    option("The context has 9,000 characters; 8,000 are allowed.", "--context", "x" * 9_000),
    option("--name must have at most 200 characters (got 500).", "--name", "x" * 500),
    option("An idempotency key has between 1 and 200 characters.", "--idempotency-key", ""),
)
TOPIC_FILES = (
    topics_of("missing.csv cannot be read: No such file or directory.", "missing.csv"),
    topics_of("folder cannot be read: Is a directory.", "folder"),
    topics_of("--file names no file.", ""),
    topics_of("empty.txt holds no topic.", "empty.txt"),
    topics_of("Save the file as UTF-8.", "photo.txt"),
    topics_of("latin.txt, line 1: this is no UTF-8 text.", "latin.txt"),
    topics_of("Save the file as UTF-8.", "utf16.txt"),
    topics_of("nul.txt, line 1: this is a binary file, no text.", "nul.txt"),
    topics_of("huge.txt, line 1: The topic has 99,999 characters", "huge.txt"),
    topics_of("not from .pdf.", "topics.pdf"),
    topics_of(
        "nocolumn.csv, line 1: the first line must name the columns, and one of them `topic`.", "nocolumn.csv"
    ),
    topics_of("cells.csv, line 2: there are more cells than columns", "cells.csv"),
    topics_of("blank.csv, line 2: The topic is empty.", "blank.csv"),
    topics_of("lists.yaml, line 1: a topic is text or a mapping", "lists.yaml"),
    topics_of("broken.yaml, line 2: this is no YAML", "broken.yaml"),
    topics_of("map.yaml, line 1: this must be a list of topics", "map.yaml"),
    topics_of("broken.json, line 2: this is no JSON", "broken.json"),
    topics_of("broken.jsonl, line 2: this is no JSON", "broken.jsonl"),
    topics_of("misspelt.jsonl, line 1: 'budget' is not known; a topic can have", "misspelt.jsonl"),
    topics_of("negative.jsonl, line 1: The budget must be above 0", "negative.jsonl"),
    topics_of("date.jsonl, line 1: ready_at must be a time", "date.jsonl"),
)

IDS = (
    usage("'nosuch' is no id and no name of a batch; an id looks like", "show", "nosuch"),
    usage("Did you mean twin?", "show", "twni"),
    usage("'twin' means several ids", "show", "twin"),
    usage("'#3' does not name a run: its number goes after the batch", "show", "#3"),
    usage("counts from 1, such as last#1.", "show", "last#0"),
    usage("'last#x' does not name a run", "show", "last#x"),
    failure("Batch last has no run #99; its last one is #2.", "show", "last#99"),
    usage("is no id and no name of a batch", "watch", "nosuch"),
    failure("nothing of it can be paused (2 cancelled).", "pause", "last"),
    failure("nothing of it can be cancelled (2 cancelled).", "cancel", "last"),
    failure("nothing of it is paused (2 cancelled).", "resume", "last"),
    usage("must be an amount above 0", "resume", "last", "--budget-usd", "-1"),
    usage("is a batch; name one of its runs. See the runs", "say", "last", "Go on."),
    usage("MESSAGE must not be empty.", "say", "last#1", ""),
    usage("is a batch; name one of its runs. See the runs of the batch: `chiron show", "logs", "last"),
    usage("Nobody can be asked here; say --yes to delete.", "delete", "last"),
    usage("'nosuch' is no id of a fact", "withdraw", "nosuch"),
    failure("The idempotency key 'k' was used for another request.", *SUBMIT, "--idempotency-key", "k"),
)
OUTPUTS = (
    usage("'pdf' is not one of 'md'", "report", "last", "--format", "pdf"),
    usage("There is no folder no/dir.", "report", "last", "-o", "no/dir/x.md"),
    usage(
        "old.md exists. Choose another name, or overwrite it with --force.", "report", "last", "-o", "old.md"
    ),
    usage("folder is a folder. Name a file in it.", "report", "last", "-o", "folder", "--force"),
    usage("docx cannot be printed.", "report", "last", "--format", "docx"),
    failure("No space left on device for the output.", "report", "last", "-o", "/dev/full", "--force"),
    failure("No space left on device for the output.", "list", stdout="/dev/full"),
    failure(
        "No space left on device for the output.", "report", "last", "--format", "html", stdout="/dev/full"
    ),
    usage("rows are written as .csv, .xlsx or .json", "results", "last", "-o", "rows.txt"),
    usage("xlsx cannot be printed.", "results", "last", "-f", "xlsx"),
    usage("It was submitted without columns, so there are no rows", "results", "last", "-f", "csv"),
    usage("--force goes with --output.", "results", "last", "--force"),
    usage("old.md exists.", "export", "-o", "old.md"),
    usage("/dev/full is no file that could be overwritten.", "backup", "/dev/full"),
    usage("old.md exists.", "backup", "old.md"),
)
KNOWLEDGE = (
    failure("There is no subject 'mooon'. The nearest: moon.", "search", "ice", "-s", "mooon"),
    failure("There is no subject 'nosuch'.", "report", "nosuch"),
    usage("query must not be empty.", "search", ""),
    usage("'--top-k': must be at least 1.", "search", "ice", "--top-k", "0"),
    usage("'--min-confidence': must be at most 1.", "search", "ice", "--min-confidence", "2"),
    usage("must be a time such as yesterday, tuesday, 7d", "facts", "--since", "2026-13-01"),
    usage("must be a time such as yesterday, tuesday, 7d", "facts", "--since", "99999999d"),
    usage("missing does not exist.", "corpus", "add", "missing", "-s", "Moon"),
    usage("Missing option '--subject' / '-s'.", "corpus", "add", "old.md"),
    failure("The corpus has no documents for 'nosuch'.", "corpus", "search", "ice", "-s", "nosuch"),
    usage("Missing argument 'node'.", "learn", "lesson", "moon"),
    usage("--goal must not be empty.", "learn", "start", "moon", "--goal", ""),
    failure("There is no subject 'nosuch'.", "learn", "quiz", "nosuch"),
    usage("Give two batches, the earlier one first.", "diff", "last"),
    usage("missing.jsonl cannot be read", "import", "missing.jsonl"),
    usage("photo.png is not a JSONL file of an export", "import", "photo.png"),
    usage("empty.txt is empty.", "import", "empty.txt"),
    usage("old.md is no backup made by `chiron backup`.", "restore", "old.md"),
    failure("missing cannot be read: No such file or directory.", "verify", "missing"),
    failure("old.md is no ZIP file of a crate", "verify", "old.md"),
    usage("'yesterday' is not an age; write 90d for days", "prune", "--older-than", "yesterday"),
)
KEYS_AND_TIMES = (
    usage("must be an amount above 0", "keys", "create", "ada", "--scope", "read", "--budget-usd", "-1"),
    usage("'all' is not one of 'read', 'submit', 'admin'.", "keys", "create", "ada", "--scope", "all"),
    usage("'a b' is no name of a key", "keys", "create", "a b", "--scope", "read"),
    usage("has passed already.", "keys", "create", "ada", "--scope", "read", "--expires", "yesterday"),
    failure("There is no key 'nosuch' in use. See the keys: `chiron keys list`", "keys", "revoke", "nosuch"),
    usage("There is no command 'remove'. Did you mean revoke?", "keys", "remove", "ada"),
    usage("'nonsense' is not an address", "webhooks", "add", "nonsense"),
    usage("Nothing can be sent there", "webhooks", "add", "ftp://example.org"),
    usage("'99' is no id of a webhook", "webhooks", "deliveries", "99"),
    usage("Write five fields", "subscriptions", "add", "Tides", "-s", "Moon", "--cron", "every day"),
    usage(
        "(Bad minute). Write five fields",
        "subscriptions",
        "add",
        "Tides",
        "-s",
        "Moon",
        "--cron",
        "61 * * * *",
    ),
    usage("Did you mean --time-zone?", "subscriptions", "add", "Tides", "--timezone", "UTC"),
    usage("There is no command 'remove'. Did you mean delete?", "subscriptions", "remove", "x"),
    usage("'--port': must be at most 65535.", "offline-model", "--port", "99999"),
    usage("'--fault-rate': must be at most 1.", "offline-model", "--fault-rate", "2"),
    usage("'--concurrency': must be at least 1.", "worker", "--concurrency", "0"),
    usage("'--workers': must be at least 1.", "up", "--workers", "0"),
    failure("`chiron up` starts everything", "open", "--print", env={"CHIRON_API_PORT": "1"}),
)
NOBODY = "127.0.0.1:1"  # nothing listens on port 1
SERVICES = (
    failure("Postgres cannot be reached", "list", env={"CHIRON_DATABASE_URL": f"postgresql://{NOBODY}/x"}),
    failure("Postgres cannot be reached", *SUBMIT, env={"CHIRON_DATABASE_URL": f"postgresql://{NOBODY}/x"}),
    failure("Postgres cannot be reached", "migrate", env={"CHIRON_DATABASE_URL": f"postgresql://{NOBODY}/x"}),
    usage(
        "CHIRON_DATABASE_URL is no PostgreSQL address.", "list", env={"CHIRON_DATABASE_URL": "mysql://x/y"}
    ),
    usage("CHIRON_REDIS_URL: must look like redis://", *SUBMIT, env={"CHIRON_REDIS_URL": "http://x"}),
    usage("CHIRON_LEASE_S: must be a valid number (got 'abc').", "list", env={"CHIRON_LEASE_S": "abc"}),
    usage("CHIRON_LEASE_S: must be at least 2 (got '-3').", "list", env={"CHIRON_LEASE_S": "-3"}),
    usage("CHIRON_PRICES: must be JSON", "list", env={"CHIRON_PRICES": "{"}),
    usage("The price of nosuch is not known.", *SUBMIT, env={"CHIRON_MODEL": "nosuch"}),
    usage("CHIRON_MODEL is empty.", *SUBMIT, env={"CHIRON_MODEL": ""}),
    failure(
        "/dev/null is a file, not a folder",
        "list",
        env={"CHIRON_HOME": "/dev/null/x", "CHIRON_DATABASE_URL": ""},
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that mistakes are made with."""
    made = tmp_path / "work"
    (made / "folder").mkdir(parents=True)
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    return made


def answer_of(settings: Settings, folder: Path, mistake: Mistake) -> str:
    """What is wrong with the answer to a mistake; empty if nothing is."""
    with Path(folder / mistake.stdout if mistake.stdout else "/dev/null").open("wb") as target:
        process = forked_python.Popen(
            [sys.executable, "-m", "chiron_api", *mistake.arguments],
            stdin=subprocess.PIPE,
            stdout=target if mistake.stdout else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(settings, **mistake.env),
            cwd=folder,
        )
        out, err = process.communicate(mistake.stdin, timeout=WITHIN_S)
    lines = err.splitlines()
    is_good = (
        process.returncode == mistake.code
        and not out
        and 1 <= len(lines) <= LINES_MAX
        and lines[0].startswith("chiron: ")
        and all(line.startswith("  ") for line in lines[1:])
        and mistake.words in err
        and "Unexpected" not in err
        and "Traceback" not in err
    )
    call = " ".join(mistake.arguments)[:80]
    return (
        ""
        if is_good
        else f"{call}\n  {process.returncode}, not {mistake.code}; {mistake.words!r}\n  {out[:200]}{err[:900]}"
    )


def check(settings: Settings, folder: Path, mistakes: Sequence[Mistake]) -> None:
    """Make each mistake: its answer is good, and no row comes or goes."""
    before = counts(settings)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        faults = [*filter(None, threads.map(lambda mistake: answer_of(settings, folder, mistake), mistakes))]
    assert not faults, "\n".join(faults)
    assert counts(settings) == before
    assert (folder / "old.md").read_bytes() == FILES["old.md"]


def counts(settings: Settings) -> dict[str, Any]:
    query = """select (select count(*) from batches) as batches, (select count(*) from subjects) as subjects,
                      (select count(*) from documents) as documents, (select count(*) from access_keys) as keys,
                      (select string_agg(state || attempt, ',' order by id) from runs) as runs"""
    return read_rows(settings, query)[0]


@pytest.mark.parametrize(
    "mistakes", [COMMANDS, OPTIONS, TOPIC_FILES], ids=["commands", "options", "files of topics"]
)
def test_a_wrong_call_is_told_what_would_be_right(
    settings: Settings, folder: Path, mistakes: Sequence[Mistake]
) -> None:
    check(settings, folder, mistakes)


def test_last_without_a_batch_says_how_to_make_one(settings: Settings, folder: Path) -> None:
    words = "There is no batch of topics yet. Submit topics: `chiron submit TOPIC --subject S`"
    check(
        settings,
        folder,
        [failure(words, command, "last") for command in ("show", "watch", "report", "retry")],
    )


@pytest.fixture
def ended_batches(settings: Settings, chiron: Callable[..., Any]) -> None:
    """Two batches of one name, both cancelled, and a key that was used."""
    for key in ("j", "k"):
        submit = ("submit", "Ebb", "Flow", "-s", "Moon", "--name", "twin", "--idempotency-key", key)
        assert chiron(*submit).exit_code == 0
        assert chiron("cancel", "last").exit_code == 0


@pytest.mark.usefixtures("ended_batches")
@pytest.mark.parametrize(
    "mistakes",
    [IDS, OUTPUTS, KNOWLEDGE, KEYS_AND_TIMES, SERVICES],
    ids=["ids", "outputs", "knowledge", "keys and times", "services"],
)
def test_a_mistake_is_answered_with_what_helps_and_nothing_is_lost(
    settings: Settings, folder: Path, mistakes: Sequence[Mistake]
) -> None:
    check(settings, folder, mistakes)


@pytest.mark.usefixtures("ended_batches")
def test_a_reader_that_goes_away_ends_a_command_without_words(settings: Settings) -> None:
    process = forked_python.Popen(
        [sys.executable, "-m", "chiron_api", "list"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(settings),
    )  # fmt: skip
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.stderr.read(), process.wait(WITHIN_S)) == ("", 141)
    process.stderr.close()


def test_without_redis_a_batch_is_stored_and_a_line_says_what_waits(settings: Settings) -> None:
    done = run_chiron(settings, *SUBMIT, CHIRON_REDIS_URL=f"redis://{NOBODY}")
    assert done.returncode == 0
    assert "Redis cannot be reached" in done.stderr
    assert "everything waits in Postgres." in done.stderr
    assert len(read_rows(settings, "select 1 from runs")) == 1


def test_a_folder_without_a_document_is_told_beside_its_counts(settings: Settings, folder: Path) -> None:
    done = run_chiron(settings, "corpus", "add", str(folder / "folder"), "-s", "Moon")
    assert (done.returncode, done.stderr.strip()) == (
        2,
        f"chiron: {folder / 'folder'} holds no document that could be read.",
    )


def test_a_model_server_that_is_away_is_told_with_what_to_check(settings: Settings) -> None:
    env = {"ANTHROPIC_BASE_URL": f"http://{NOBODY}", "ANTHROPIC_API_KEY": "x"}
    done = run_chiron(settings, "doctor", "--model", "claude-opus-5-5", **env)
    assert done.returncode == 1
    assert "See that its server runs, that ANTHROPIC_BASE_URL is its address" in done.stdout
