import json
import os
import pty
import signal
import subprocess
import sys
import time
from array import array
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from rich.console import Console
from support import forked_python

from chiron_api.cli.display.board import Board, Budget, EventUsage, Row
from chiron_api.cli.display.events import phrase
from chiron_workers.ids import new_id
from chiron_workers.pubsub.beginnings import Beginning, RunAtBeginning, Sums
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind, RunState

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ENDS = """
with run as (
  update runs set seq = seq + 2, state = %s, started_at = now(), finished_at = now(), facts = 1 where id = %s
  returning id, batch_id, seq),
batch as (
  update batches set open_runs = open_runs - 1, finished_at = now() from run where batches.id = run.batch_id)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq - 1, batch_id, 'fact.stored',
       '{"content": "Ducks \\u001b[2Jdive.", "source_url": "https://d.org", "confidence": 0.9}'::json from run
union all
select id, seq, batch_id, 'run.' || %s, '{"answer": "So it is."}'::json from run
returning seq
"""

MANY_TURNS = """
with run as (
  update runs set seq = seq + 70, turns = 70 where id = %s returning id, batch_id, seq)
insert into events (run_id, seq, batch_id, kind, data)
select id, seq - 70 + n, batch_id, 'model.replied', json_build_object('turn', n)
  from run, generate_series(1, 70) as n
returning seq
"""


@pytest.fixture
def batch(chiron):
    """A batch with two queued runs: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "--subject", "S", "--json").stdout)
    return found["batch_id"], found["run_ids"]


@pytest.fixture
def end(rows):
    def write(run_id: str, state: str = "completed") -> None:
        rows(ENDS, state, run_id, state)

    return write


def test_json_is_one_event_a_line_and_the_exit_code_is_0(chiron, batch, end):
    batch_id, run_ids = batch
    for run_id in run_ids:
        end(run_id)
    found = chiron("watch", batch_id, "--json")
    assert found.exit_code == 0
    snapshot, *events = events_of_all = [json.loads(line) for line in found.stdout.splitlines()]
    assert (snapshot["kind"], snapshot["data"]["runs"]["completed"]) == ("snapshot", 2)
    assert all(list(event) == ["batch_id", "run_id", "seq", "kind", "at", "data"] for event in events_of_all)
    for run_id in run_ids:
        assert [event["seq"] for event in events if event["run_id"] == run_id] == [1, 2, 3]


def test_a_batch_with_a_failed_run_exits_with_1(chiron, batch, end):
    end(batch[1][0])
    end(batch[1][1], "failed")
    assert chiron("watch", batch[0]).exit_code == 1


def test_in_a_pipe_each_event_is_a_plain_line_and_the_last_one_sums_up(chiron, batch, end):
    for run_id in batch[1]:
        end(run_id)
    lines = chiron("watch", batch[0]).stdout.splitlines()
    assert any(line.endswith("#2 B  fact: Ducks dive. (https://d.org, 0.9)") for line in lines)
    assert any(line.endswith("#1 A  completed: So it is.") for line in lines)
    assert lines[-1].startswith("Completed: 2 completed; 2 new facts")
    assert not any("\x1b" in line for line in lines)


def test_of_a_long_story_the_last_events_follow_what_it_has_come_to(chiron, batch, end, rows):
    first, second = batch[1]
    rows(MANY_TURNS, first)
    end(first)
    end(second)
    lines = chiron("watch", batch[0]).stdout.splitlines()
    assert lines[0] == (
        "So far: 2 completed; 2 new facts; 70 turns; $0.00. 26 earlier events: --history shows them."
    )
    assert len(lines) == 1 + 50 + 1
    assert lines[-3].endswith("#2 B  fact: Ducks dive. (https://d.org, 0.9)")
    whole = chiron("watch", batch[0], "--history").stdout.splitlines()
    assert len(whole) == 76 + 1
    assert lines[-1] == whole[-1]
    events = [json.loads(line) for line in chiron("watch", first, "--json").stdout.splitlines()]
    assert (events[0]["run_id"], events[0]["data"]["left_out"]) == (first, 23)
    assert [event["seq"] for event in events[1:]] == list(range(24, 74))
    assert "take one of them" in chiron("watch", first, "--after", "1", "--history").stderr


def test_a_run_is_followed_after_the_number_given(chiron, batch, end):
    end(batch[1][0])
    found = chiron("watch", batch[1][0], "--after", "2", "--json")
    assert [json.loads(line)["seq"] for line in found.stdout.splitlines()] == [3]


def test_a_wrong_call_exits_with_2_and_an_unknown_batch_with_1(chiron, batch):
    assert chiron("watch", "nonsense").exit_code == 2
    assert chiron("watch", str(new_id())).exit_code == 1
    assert "--after is for runs" in chiron("watch", batch[0], "--after", "3").stderr


def test_without_any_batch_watch_and_show_fail_alike(chiron):
    for command in ("watch", "show"):
        answer = chiron(command, "last")
        assert (answer.exit_code, "There is no batch of topics yet" in answer.stderr) == (1, True)


@pytest.fixture
def watcher(settings, tmp_path):
    """Starts `chiron watch` as a process of its own."""
    started = []

    def start(target: str, *options: str, **streams) -> subprocess.Popen:
        environment = os.environ | {
            "CHIRON_DATABASE_URL": settings.database_url,
            "CHIRON_REDIS_URL": settings.redis_url,
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "LINES": "20",
        }
        command = [sys.executable, "-m", "chiron_api", "watch", target, *options]
        process = forked_python.Popen(command, env=environment, cwd=tmp_path, **streams)
        started.append(process)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_ctrl_c_ends_only_the_watching(batch, watcher, rows):
    watching = watcher(batch[0], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "waits for a worker" in watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, said = watching.communicate(timeout=90)
    assert watching.returncode == 130
    *_, farewell = said.splitlines()
    assert farewell == f"Stopped watching; the research goes on. `chiron watch {batch[0]}` follows it again."
    assert {row["state"] for row in rows("select state from runs")} == {"queued"}


def test_in_a_pipe_it_is_told_once_that_all_is_paused_and_once_that_it_goes_on(chiron, batch, watcher, end):
    chiron("pause", batch[1][0])
    watching = watcher(batch[0], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "waits for a worker" in watching.stdout.readline()
    chiron("pause", batch[1][1])
    paused = f"All runs that have not ended are paused. `chiron resume {batch[0]}` lets them go on."
    assert line_with("paused", watching.stderr) == paused
    chiron("resume", batch[0])
    assert watching.stderr.readline() == "It goes on.\n"
    for run_id in batch[1]:
        end(run_id)
    _, rest = watching.communicate(timeout=90)
    assert (watching.returncode, rest) == (0, "")


def test_a_paused_run_is_told_at_once_and_json_stays_json(chiron, batch, watcher):
    chiron("pause", batch[1][0])
    watching = watcher(batch[1][0], "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sentence = f"The run is paused. `chiron resume {batch[1][0]}` lets it go on."
    assert line_with("paused", watching.stderr) == sentence
    chiron("cancel", batch[1][0])
    events, _ = watching.communicate(timeout=90)
    assert [json.loads(line)["kind"] for line in events.splitlines()][-1] == "run.cancelled"


@pytest.mark.acceptance
def test_in_a_pipe_it_is_told_that_postgres_is_away_and_that_it_is_back(batch, watcher, end, database_url):
    watching = watcher(batch[0], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "waits for a worker" in watching.stdout.readline()
    with closed_database(database_url):
        assert "Nothing is lost" in line_with("Postgres does not answer", watching.stderr)
    assert watching.stderr.readline() == "Postgres answers again.\n"
    for run_id in batch[1]:
        end(run_id)
    _, rest = watching.communicate(timeout=90)
    assert (watching.returncode, rest) == (0, "")


def test_in_a_pipe_it_is_told_that_no_worker_is_alive_and_that_one_is(batch, watcher, rows):
    watching = watcher(batch[0], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert line_with("orker is alive", watching.stderr) == "No worker is alive, and runs wait for one."
    rows(
        "insert into worker_metrics (id, worker, counters, gauges) values (gen_random_uuid(), 'w', '{}', '{}') returning 1"
    )
    assert line_with("orkers give", watching.stderr) == "All workers give signs again."
    rows("update worker_metrics set saved_at = now() - interval '40 seconds' returning 1")
    sign = "No worker answers: the worker has given no sign for 4"
    assert line_with("orker answers", watching.stderr).startswith(sign)
    watching.kill()
    watching.communicate()


def test_a_board_says_so_in_the_place_of_its_hint(chiron, batch, watcher):
    chiron("pause", batch[0])
    leader, follower = pty.openpty()
    watching = watcher(batch[0], stdout=follower, stderr=follower, stdin=follower)
    os.close(follower)
    read_until(leader, "All runs that have not ended are paused.")
    chiron("resume", batch[0])
    read_until(leader, "Ctrl+C ends the watching")
    watching.kill()
    os.close(leader)


def line_with(words: str, stream) -> str:
    return next(line for line in stream if words in line).rstrip("\n")


@contextmanager
def closed_database(database_url: str):
    """The database ends its connections and takes none."""
    name = conninfo_to_dict(database_url)["dbname"]
    close = sql.SQL("alter database {} with allow_connections {}")
    with psycopg.connect(make_conninfo(database_url, dbname="postgres"), autocommit=True) as connection:
        connection.execute(close.format(sql.Identifier(name), sql.SQL("false")))
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
        )
        try:
            yield
        finally:
            connection.execute(close.format(sql.Identifier(name), sql.SQL("true")))


def test_on_a_terminal_a_board_shows_the_runs_and_a_summary_follows(batch, watcher, end):
    leader, follower = pty.openpty()
    watching = watcher(batch[0], stdout=follower, stderr=follower, stdin=follower)
    os.close(follower)
    seen = read_until(leader, "waits for a worker")
    for run_id in batch[1]:
        end(run_id)
    seen += read_until(leader, "Completed: 2 completed; 2 new facts")
    assert watching.wait(90) == 0
    os.close(leader)
    assert "Ctrl+C ends the watching" in seen
    assert "Ducks dive." in seen


def read_until(leader: int, text: str) -> str:
    seen, give_up_at = "", time.monotonic() + 90
    while text not in seen and time.monotonic() < give_up_at:
        seen += os.read(leader, 65_536).decode(errors="replace")
    assert text in seen
    return seen


def event(run_id: UUID, kind: EventKind, **data: object) -> Event:
    return Event(UUID(int=1), run_id, 1, kind, NOON, data)


def drawn(board: Board, *, height: int = 24, width: int = 100) -> list[str]:
    console = Console(width=width, height=height, color_system=None, force_terminal=True)
    with console.capture() as capture:
        console.print(board)
    return capture.get().splitlines()


@pytest.mark.parametrize("runs", [1, 5, 500])
@pytest.mark.parametrize("height", [8, 12, 24, 60])
def test_the_board_fits_the_screen_for_few_runs_and_for_many(runs, height):
    board = Board("A batch")
    ids = [new_id() for _ in range(runs)]
    for n, run_id in enumerate(ids):
        board.apply(event(run_id, EventKind.RUN_QUEUED, topic=f"topic {n} " + "x" * 200))
        board.apply(
            event(
                run_id, EventKind.FACT_STORED, content="y" * 300, source_url="https://d.org", confidence=0.9
            )
        )
    board.apply(event(ids[-1], EventKind.RUN_STARTED, worker="w1"))
    lines = drawn(board, height=height)
    assert len(lines) < height
    assert any(f"topic {runs - 1} " in line and "started on w1" in line for line in lines)


def test_the_board_shows_a_problem_of_several_runs_once_with_its_count():
    board = Board("A batch")
    for n in range(12):
        run_id = new_id()
        board.apply(event(run_id, EventKind.RUN_QUEUED, topic=f"topic {n}"))
        kind = "max_turns" if n else "refusal"
        failure = event(run_id, EventKind.RUN_FAILED)
        board.apply(replace(failure, data={"kind": kind, "message": f"Problem {kind}."}))
    text = "\n".join(drawn(board, height=40))
    assert text.count("Problem max_turns.") == 1
    assert "11 runs failed (max_turns): Problem max_turns." in text
    assert text.count("Problem refusal.") == 1


def test_the_board_counts_facts_tokens_and_cost():
    board, run_id = Board("A batch"), new_id()
    board.apply(event(run_id, EventKind.RUN_QUEUED, topic="Ducks"))
    board.apply(event(run_id, EventKind.RUN_STARTED, worker="w1"))
    for turn in (1, 2):
        board.apply(
            event(
                run_id, EventKind.MODEL_REPLIED, turn=turn, input_tokens=1000, output_tokens=10, cost_usd=0.75
            )
        )
    board.apply(
        event(
            run_id, EventKind.FACT_STORED, content="Ducks dive.", source_url="https://d.org", confidence=0.9
        )
    )
    text = "\n".join(drawn(board))
    assert "1 running" in text
    assert "1 new fact  $1.50" in text
    assert "tokens: 2,000 fresh, 0 cache read, 0 cache write, 20 out" in text
    board.apply(
        event(run_id, EventKind.MODEL_REPLIED, turn=3, input_tokens=1, output_tokens=1, cost_usd=None)
    )
    assert "1 new fact  cost unknown" in "\n".join(drawn(board))
    assert "Ducks dive. (https://d.org, 0.9)" in text


def test_the_board_begins_with_what_is_known_and_counts_nothing_twice():
    ids = sorted(new_id() for _ in range(2))
    sums = Sums(
        input_tokens=2_000, cache_write_tokens=0, cache_read_tokens=0, output_tokens=20, spent_usd=Decimal("1.5"),
        spent_usd_min=Decimal("1.5"), unpriced_calls=0, unconfirmed_usd=Decimal(0), unconfirmed_calls=0,
        services_usd=Decimal(0), services_usd_min=Decimal(0),
        runs={"running": 1, "completed": 1}, facts=3, confirmed=0, cited=0, nothing_found=0, turns=2,
        reserved_usd=Decimal(0), started_at=NOON, events=9, left_out=8,
    )  # fmt: skip
    runs = [
        RunAtBeginning(ids[0], 3, "Ducks", RunState.RUNNING, 1, 0, 0, 2),
        RunAtBeginning(ids[1], 4, "Geese", RunState.COMPLETED, 2, 0, 0, 0),
    ]
    beginning = Beginning(UUID(int=1), None, NOON, sums, "", "", (), ids, array("i", [1, 8]), runs)
    board = Board.begin("A batch", beginning, hint="")
    stored = {"content": "Ducks dive.", "source_url": "https://d.org", "confidence": 0.9}
    board.apply(event(ids[0], EventKind.FACT_STORED, **stored))  # its seq is 1, which the sums have counted
    text = "\n".join(drawn(board))
    assert "1 running  1 completed" in text
    assert "3 new facts  $1.50" in text
    assert "#3 Ducks" in text
    assert "#4 Geese" in text
    assert "Ducks dive." in text
    board.apply(replace(event(ids[0], EventKind.FACT_STORED, **stored), seq=2))
    assert "4 new facts" in "\n".join(drawn(board))
    search = event(ids[0], EventKind.TOOL_RETURNED, name="web_search", service_calls=1, services_usd=0.25)
    board.apply(replace(search, seq=3))
    assert "4 new facts  $1.75" in "\n".join(drawn(board)), "a search that cost something"


def test_words_of_pages_and_models_do_not_reach_the_terminal_as_commands():
    board, run_id = Board("A batch"), new_id()
    evil = "\x1b]0;own\x07[red]x[/red]\x1b[2J\x9b2J\u202etxt\nnext"
    board.apply(event(run_id, EventKind.RUN_QUEUED, topic=evil))
    for kind in EventKind:
        data = dict.fromkeys(
            (
                "text",
                "name",
                "arguments",
                "content",
                "source_url",
                "answer",
                "message",
                "reason",
                "title",
                "worker",
            ),
            evil,
        )
        said = phrase(event(run_id, kind, **data))
        assert said.isprintable()
        board.apply(event(run_id, kind, **data))
    text = "".join(drawn(board))
    assert not set("\x1b\x9b\x07\u202e") & set(text)
    assert "[red]x[/red]" in text


def test_what_a_model_thinks_is_shown():
    board, run_id = Board("A batch"), new_id()
    board.apply(event(run_id, EventKind.RUN_QUEUED, topic="Ducks"))
    board.apply(event(run_id, EventKind.MODEL_THOUGHT, turn=1, text="First the\nfeet."))
    assert any("thinks: First the feet." in line for line in drawn(board))


def test_text_deltas_show_what_the_model_writes():
    board, run_id = Board("A batch"), new_id()
    board.apply(event(run_id, EventKind.RUN_QUEUED, topic="Ducks"))
    for word in ("Ducks ", "dive ", "deep."):
        board.apply(event(run_id, EventKind.TEXT_DELTA, text=word))
    assert any("writes: Ducks dive deep." in line for line in drawn(board))


def test_elapsed_time_counts_from_the_first_start():
    board = Board("A batch", started_at=datetime.now(UTC) - timedelta(minutes=3))
    assert any("3m 0" in line for line in drawn(board))


def test_the_board_shows_budget_time_left_and_topics_shortened_in_the_middle() -> None:
    board = Board(
        "A batch",
        started_at=datetime.now(UTC) - timedelta(minutes=6),
        budget=Budget(Decimal(5), 90_000),
        usage=EventUsage(input_tokens=40_000, output_tokens=2_000, cost_usd=1.25),
    )
    topic = "What is the age of the lake whose name begins with the letter "
    states = (RunState.COMPLETED, RunState.COMPLETED, RunState.RUNNING, RunState.QUEUED)
    for number, state in enumerate(states, start=1):
        board.rows[new_id()] = Row(f"{topic}{'ABCD'[number - 1]}?", number, state)
    lines = drawn(board, width=80)
    shown = "\n".join(lines)
    assert "$1.25 of $5.00  42,000 of 90,000 tokens  6m 00s, about 6m 00s left" in shown
    assert all(
        f"#{number} What is" in shown and f"{letter}?" in shown for number, letter in enumerate("ABCD", 1)
    )
    assert max(map(len, lines)) <= 80
    for row in board.rows.values():
        row.state = RunState.PAUSED
    assert " left" not in "\n".join(drawn(board, width=80))


@pytest.mark.parametrize("runs", [3, 200])
def test_the_board_shows_the_command_that_lets_a_paused_batch_finish_whole_at_80_columns(runs: int) -> None:
    command = f"`chiron resume {new_id()} --budget-usd 12.54`"
    board = Board("A batch", {new_id(): Row(f"topic {n}") for n in range(runs)})
    reason = "All runs that have not ended are paused. About 12.54 USD in all lets the open runs finish."
    board.hint = f"{reason} {command} gives it that."
    lines = drawn(board, width=80)
    assert any(line.startswith(command) for line in lines)
    assert len(lines) <= 24
