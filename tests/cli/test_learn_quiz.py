"""`chiron learn quiz`: questions in a terminal or from a pipe, left and gone on with."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support import forked_python
from support.course import Course, course_of_three, node_with_facts
from support.research_rows import Shelf
from support.worker_processes import wait_until
from typer.testing import Result

Command = Callable[..., Result]
Rows = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def course(shelf: Shelf) -> Course:
    return course_of_three(shelf)


def test_answers_come_from_a_pipe_and_the_quiz_goes_on_where_it_was_left(
    chiron: Command, course: Course, rows: Rows
):
    first = chiron("learn", "quiz", "Sea ice", stdin="190 cm\n")
    assert first.exit_code == 0, first.output
    assert "1 of 3  How thick was it in winter 2023?" in first.output
    assert "right: It gives the figure of the key." in first.output
    assert "1 answer: 1 right, 0 wrong, 0 doubtful." in first.output
    assert "The quiz stays where it is" in first.output
    second = chiron("learn", "quiz", "sea-ice", stdin="its freeboard\n\ny\n")
    assert "1 of 3" not in second.output
    assert "2 of 3  What do satellites measure?" in second.output
    assert "wrong: The answer is empty." in second.output
    assert "Key: the freeboard of sea ice" in second.output
    assert "3 answers: 2 right, 1 wrong, 0 doubtful." in second.output
    assert {row["learner"] for row in rows("select learner from assessments")} == {"local"}


def test_json_is_one_document_and_a_node_is_named_by_its_title(chiron: Command, course: Course):
    result = chiron("learn", "quiz", "sea-ice", "thickness", "--count", "1", "--json", stdin="2.4 m\n")
    document = json.loads(result.stdout)
    assert (document["state"], document["wrong"], document["node_id"]) == ("finished", 1, str(course.node))
    assert document["answers"][0]["fact_ids"] == [str(course.facts[0])]
    unknown = chiron("learn", "quiz", "sea-ice", "salt")
    assert (unknown.exit_code, "'salt'" in unknown.output) == (1, True)


async def test_where_questions_could_not_be_written_the_command_says_how_to_go_on(
    chiron: Command, shelf: Shelf, rows: Rows
):
    node_with_facts(shelf)

    async def quiz_of_failed_batch(*options: str) -> tuple[str, Result]:
        quiz = asyncio.create_task(asyncio.to_thread(chiron, "learn", "quiz", "sea-ice", *options))
        query = "select batch_id from runs where state = 'queued'"
        await asyncio.to_thread(wait_until, lambda: rows(query), what="questions are ordered")
        [row] = rows(query)
        shelf.connection.execute("update runs set state = 'failed', finished_at = now()")
        shelf.connection.execute("update batches set open_runs = 0, finished_at = now()")
        return str(row["batch_id"]), await quiz

    batch_id, result = await quiz_of_failed_batch()
    assert (result.exit_code, f"chiron show {batch_id}" in result.output) == (1, True), result.output
    assert "POST" not in result.output
    same = await asyncio.to_thread(chiron, "learn", "quiz", "sea-ice")
    assert f"chiron show {batch_id}" in same.output
    other_id, other = await quiz_of_failed_batch("--again")
    assert (other_id != batch_id, f"chiron show {other_id}" in other.output) == (True, True)


def test_a_quiz_that_was_killed_goes_on_with_the_next_question(chiron: Command, course: Course, rows: Rows):
    command = [sys.executable, "-m", "chiron_api", "learn", "quiz", "sea-ice"]
    pipe = subprocess.PIPE
    with forked_python.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        process.stdin.write("1.9 m\n")
        process.stdin.flush()
        wait_until(lambda: rows("select 1 from assessments"), what="the answer is stored")
        process.kill()
    again = chiron("learn", "quiz", "sea-ice", stdin="")
    assert "2 of 3" in again.output
    assert rows("select count(*) as n from assessments") == [{"n": 1}]
    assert rows("select count(*) as n from quizzes") == [{"n": 1}]


def test_what_is_done_in_a_quiz_is_recorded_in_the_transaction_that_does_it(
    chiron: Command, course: Course, rows: Rows, shelf: Shelf
):
    assert chiron("learn", "quiz", "sea-ice", "--count", "2", stdin="190 cm\n").exit_code == 0
    shelf.connection.execute("alter table audit add constraint closed check (false) not valid")
    assert chiron("learn", "quiz", "sea-ice", stdin="its freeboard\n").exit_code == 1
    assert rows("select count(*) as n from assessments") == [{"n": 1}]
    shelf.connection.execute("alter table audit drop constraint closed")
    assert chiron("learn", "quiz", "sea-ice", stdin="its freeboard\ny\n").exit_code == 0
    [quiz] = rows("select id::text from quizzes")
    entries = rows("select action, target, detail ->> 'via' as via from audit order by id")
    assert {(row["target"], row["via"]) for row in entries} == {(quiz["id"], "command")}
    actions = [row["action"] for row in entries]
    # A quiz that goes on is started too.
    assert actions == [
        "quizzes.create",
        "quizzes.answers",
        "quizzes.create",
        "quizzes.answers",
        "quizzes.settlements",
    ]


def test_where_no_model_can_mark_the_learner_is_told_why_and_asked(
    chiron: Command, course: Course, rows: Rows, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CHIRON_MODEL", "of-unknown-price")
    result = chiron("learn", "quiz", "sea-ice", "--count", "1", stdin="nearly two\ny\n")
    assert "The price of of-unknown-price is not known. Set it in CHIRON_PRICES" in result.output
    assert "Is your answer right?" in result.output
    assert "1 answer: 1 right, 0 wrong, 0 doubtful." in result.output
    assert rows("select role from runs") == []
