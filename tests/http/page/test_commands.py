"""No view sends a person to a shell: what can be done has a button, a link or a form, and the rest plain words."""

import re
from pathlib import Path

import httpx2
import psycopg
import pytest
from support.hostile_rows import hostile_rows
from support.page_commands import commands_in
from support.research_rows import Shelf

import chiron_api.http.page
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings

TEMPLATES = Path(chiron_api.http.page.__file__).parent
# The reference of the API has examples for a shell.
APART = ("docs",)
EMPTY = (
    "/", "/submit", "/batches", "/runs", "/subjects", "/search", "/search?q=moss", "/costs", "/schedules", "/webhooks",
    "/deliveries", "/system", "/keys", "/quizzes", "/nope",
)  # fmt: skip
WORDS = re.compile(r"\b(bears? (it |this )?out|(is|are) held to|goes on|whoever|nobody)\b", re.IGNORECASE)


def templates() -> list[Path]:
    return sorted(path for path in TEMPLATES.glob("*/*.html") if path.parent.name not in APART)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("<code>chiron submit --dry-run</code>", ["chiron submit", "--dry-run"]),
        ("or `--json`", ["--json"]),
        ("<title>Home - Chiron</title> chiron.css --> chiron openings", []),
    ],
)
def test_commands_in_a_page_are_found(text: str, commands: list[str]):
    assert commands_in(text) == commands


@pytest.mark.parametrize("path", templates(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_template_has_no_command_and_no_word_that_is_read_twice(path: Path):
    text = path.read_text()
    assert commands_in(text) == []
    assert WORDS.findall(text) == []


async def test_an_empty_view_names_no_command(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("mars")
    subject = [f"/subjects/mars{part}" for part in ("", "/learn", "/sources", "/changes", "/report")]
    client.headers["Accept"] = "text/html"
    for path in (*EMPTY, *subject, "/quizzes?subject=mars", "/facts/no-id", "/runs/no-id"):
        assert commands_in((await client.get(path)).text) == [], path


async def test_a_full_view_names_no_command(client: httpx2.AsyncClient, shelf: Shelf):
    for path in hostile_rows(shelf).paths():
        answer = await client.get(path)
        assert answer.status_code in (200, 401, 404, 422), path
        assert commands_in(answer.text) == [], path


async def test_a_system_view_without_migrations_and_workers_says_who_can_help(
    client: httpx2.AsyncClient, shelf: Shelf, settings: Settings
):
    shelf.run(shelf.subject("moon"), shelf.batch("moon"), "Tides", state="queued", finished_at=None)
    with psycopg.connect(settings.database_url) as connection:
        connection.execute("delete from schema_migrations where version >= 30")
    page = (await client.get("/system")).text
    assert "An administrator of the machine has to migrate the database." in page
    assert commands_in(page) == []


async def test_a_long_list_of_documents_is_shown_in_full_by_a_link(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("moon")
    for n in range(60):
        url = f"corpus://moon/{n:02}.md"
        digest = shelf.source(url, f"Tides, part {n}.")
        shelf.insert(
            "documents", id=new_id(), url=url, subject_id="moon", hash=digest, title=f"Part {n}", passages=1
        )
    page = (await client.get("/subjects/moon/sources")).text
    assert "The first 50 of 60." in page
    assert "Part 59" not in page
    link = re.search(r'href="(\?documents=all)#documents">Show all documents', page)
    assert link
    assert "Part 59" in (await client.get(f"/subjects/moon/sources{link[1]}")).text


async def test_a_long_result_of_a_call_can_be_downloaded(client: httpx2.AsyncClient, shelf: Shelf):
    batch = shelf.batch(shelf.subject("moon"))
    run = shelf.run("moon", batch, "Tides")
    body = '{"content": [{"type": "tool_use", "id": "c1", "name": "web_fetch", "input": {}}]}'
    shelf.insert("entries", run_id=run, n=1, kind="reply", lease=1, body=body)
    shelf.insert(
        "tool_results", run_id=run, n=1, call_id="c1", name="web_fetch", is_error=False, ms=5,
        body="x" * 70_000, whole="x" * 70_000 + "the end",
    )  # fmt: skip
    page = (await client.get(f"/runs/{run}/calls/c1")).text
    link = re.search(r'href="([^"]+)">Download all of it', page)
    assert link
    answer = await client.get(link[1])
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.text.endswith("the end")
    assert (await client.get(f"/runs/{run}/calls/c2/result")).status_code == 404
