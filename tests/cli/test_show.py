import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from support.json_lines import json_lines
from support.research_rows import Shelf
from support.timed_runs import TimedRun

from chiron_api.cli.display import summary
from chiron_api.cli.display.model_holds import holds_now
from chiron_workers.settings import settings as read_settings

BATCH_KEYS = [
    "id", "name", "subject_id", "state", "runs", "facts", "turns", "input_tokens", "output_tokens", "spent_usd",
    "budget_usd", "started_at", "finished_at",
]  # fmt: skip
RUN_KEYS = [
    "id", "batch_id", "role", "topic", "state", "attempt", "turns", "facts", "spent_usd", "error", "answer"
]  # fmt: skip


@pytest.fixture
def batch(chiron):
    """A batch with two runs: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "--subject", "S", "--budget-usd", "4", "--json").stdout)
    return found["batch_id"], found["run_ids"]


def test_a_batch_as_json_has_its_counts_and_sums(chiron, rows, batch):
    rows(
        "update runs set state = 'failed', spent_usd = 0.5, turns = 3, started_at = now() where topic = 'A' returning 1"
    )
    found = json.loads(chiron("show", batch[0], "--json").stdout)
    assert set(BATCH_KEYS) <= set(found)
    assert found["runs"] == {
        "queued": 1,
        "running": 0,
        "paused": 0,
        "completed": 0,
        "failed": 1,
        "cancelled": 0,
    }
    assert (found["state"], found["spent_usd"], found["budget_usd"], found["turns"]) == (
        "running",
        0.5,
        4.0,
        3,
    )
    assert json_lines(chiron("list", "--json").stdout) == [found]


def test_a_batch_says_how_many_play_at_once_and_when_it_starts(chiron):
    batch_id = chiron(
        "submit", "A", "-s", "S", "--concurrency", "3", "--ready-at", tomorrow().isoformat()
    ).stdout.strip()
    found = json.loads(chiron("show", batch_id, "--json").stdout)
    assert (found["concurrency"], datetime.fromisoformat(found["ready_at"]) > datetime.now(UTC)) == (3, True)
    said = chiron("show", batch_id).stdout
    assert "at once  3 runs\n" in said
    assert f"started  not before {tomorrow().astimezone():%Y-%m-%d}" in said


def tomorrow() -> datetime:
    return datetime.now(UTC).replace(hour=12) + timedelta(days=1)


def test_a_run_as_json_has_its_answer_and_its_error(chiron, rows, batch):
    rows("""update runs set state = 'failed', error = '{"kind": "max_turns", "message": "Too long."}', answer = 'So.'
            where topic = 'A' returning 1""")
    found = json.loads(chiron("show", batch[1][0], "--json").stdout)
    assert set(RUN_KEYS) <= set(found)
    assert (found["id"], found["batch_id"], found["topic"]) == (batch[1][0], batch[0], "A")
    assert found["error"] == {"kind": "max_turns", "message": "Too long."}
    assert found["answer"] == "So."


def test_people_read_words_that_no_terminal_obeys(chiron, rows, batch):
    rows(
        "update runs set topic = E'\\x1b]0;own\\x07[bold]A\\x1b[2J', answer = E'one\\n\\u009b31mtwo' "
        "where topic = 'A' returning 1"
    )
    for command in (("show", batch[0]), ("show", batch[1][0]), ("list",)):
        found = chiron(*command)
        assert found.exit_code == 0
        assert not set("\x1b\x9b\x07") & set(found.stdout)
    assert "[bold]A" in chiron("show", batch[1][0]).stdout
    assert "one\n31mtwo" in chiron("show", batch[1][0]).stdout


def test_show_says_what_the_time_of_a_run_went_to(chiron, shelf):
    run = TimedRun(shelf)
    run.event(0, "run.queued")
    run.event(90, "run.started")
    run.reply(94, "web_search")
    run.result(97.5, "web_search", ms=3_500)
    shown = chiron("show", str(run.run_id)).stdout
    assert re.search(r"^time +model 4\.0s, tools 3\.5s, in the queue 1m 30s$", shown, re.MULTILINE)


def test_the_list_is_bounded_and_newest_first(chiron, rows):
    ids = [chiron("submit", "A", "--subject", "S").stdout.strip() for _ in range(3)]
    found = json_lines(chiron("list", "--limit", "2", "--json").stdout)
    assert [one["id"] for one in found] == [ids[2], ids[1]]
    assert [line.split("\t")[0] for line in chiron("list").stdout.splitlines()] == ids[::-1]


def test_nothing_submitted_yet_is_said(chiron):
    assert "There is no batch yet" in chiron("list").stdout
    assert json_lines(chiron("list", "--json").stdout) == []


def test_a_held_model_is_said_where_its_runs_are_shown(chiron, rows, batch):
    rows(
        "insert into holds values ('offline', now() + interval '1 hour', 'A spend limit of the account is reached.') "
        "returning 1"
    )
    for arguments in (("show", batch[0]), ("show", batch[1][0]), ("list",)):
        found = chiron(*arguments)
        assert found.exit_code == 0
        (line,) = [line for line in found.stdout.splitlines() if line.startswith("Held until ")]
        assert line.endswith(
            ": offline. A spend limit of the account is reached. `chiron resume` of a batch or run tries it at once."
        )
    assert [hold.model for hold in asyncio.run(holds_now(read_settings()))] == ["offline"]
    (held,) = json.loads(chiron("show", batch[0], "--json").stdout)["held"]
    assert (held["model"], set(held)) == ("offline", {"model", "until", "reason"})


def test_resume_tries_a_held_model_at_once(chiron, rows, batch):
    rows("insert into holds values ('offline', now() + interval '1 hour', 'full') returning 1")
    found = chiron("resume", batch[0])
    assert found.stdout == f"Tried again at once: offline. `chiron watch {batch[0]}` follows.\n"
    assert rows("select * from holds") == []


@pytest.fixture
def terminal(chiron, monkeypatch):
    """Runs a command as in a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(summary, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    return chiron


def test_lists_lose_no_figure_at_80_columns(terminal, rows, batch):
    long = "the tides of the northern seas and what they carry along the coast " * 4
    rows(
        "update runs set topic = %s, facts = 1234567, turns = 7654321, spent_usd = 98765.43 returning 1", long
    )
    rows("update batches set name = %s, spent_usd = 98765.43 returning 1", long)
    for command in (("list",), ("show", batch[0])):
        table = terminal(*command).stdout
        lines = table.splitlines()
        [header] = [line for line in lines if "facts" in line and "cost" in line]
        [line, *_] = lines[lines.index(header) + 1 :]
        assert len(line) <= 80
        assert "$197,530.86" in line or "$98,765.43" in line
        for figure in ("facts", "cost"):  # right-aligned below its head
            assert line[header.index(figure) + len(figure) - 1] != " "
            assert line[header.index(figure) + len(figure)] == " "
    assert "1,234,567" in table
    assert "7,654,321" in table


def test_a_beginning_of_an_id_last_and_a_name_are_enough(chiron, batch):
    named = chiron("submit", "C", "-s", "S", "--name", "spring").stdout.strip()
    for text in (named, named[:-4], "last", "spring"):
        assert json.loads(chiron("show", text, "--json").stdout)["id"] == named
    assert json.loads(chiron("show", batch[1][0][:-4], "--json").stdout)["id"] == batch[1][0]
    assert json.loads(chiron("cancel", "last", "--json").stdout) == {
        "changed": 1,
        "requested": 0,
        "lifted_models": [],
    }
    assert json.loads(chiron("results", "spring", "--json").stdout)["state"] == "cancelled"


def test_a_fact_shows_what_a_reader_of_its_source_sees_around_its_quote(chiron, shelf: Shelf):
    shelf.subject("lake", "Lake")
    quote = "The lake has no floor."
    text = "\n\n".join(["Lake\x1b[31m", *["It is told of in many books."] * 400, "Myths of the lake", quote])
    fact_id = shelf.fact("lake", quote, "https://a.org/", quote=quote, text=text)
    lines = chiron("show", str(fact_id)).stdout
    assert "\x1b" not in lines
    assert "what a reader of the source sees around it (window " in lines
    assert "       page head, from 0: Lake" in lines
    assert f"Myths of the lake {quote}" in lines
