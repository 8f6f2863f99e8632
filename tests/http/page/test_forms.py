"""Forms: as large as they may be in all, whatever they are made of."""

from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

import httpx2
import pytest
from starlette.routing import Route
from support.lesson_writing import Taught, written_lesson
from support.research_rows import Shelf

from chiron_api.acts.batches import BatchRequest
from chiron_api.http.page.forms import FORM_BYTES_MAX, Form
from chiron_api.http.page.routes import all_routes
from chiron_api.http.page.session.view import SIGN_IN_BYTES_MAX
from chiron_api.text import usd
from chiron_workers.settings import Settings

MULTIPART = "multipart/form-data; boundary=X"
URLENCODED = "application/x-www-form-urlencoded"
CHUNK = b"a" * 1024 * 1024
CHUNKS = FORM_BYTES_MAX // len(CHUNK)


async def stream(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    """Chunks as a body of no known length."""
    for chunk in chunks:
        yield chunk


def part(name: str, *chunks: bytes, file: str = "") -> list[bytes]:
    head = f'--X\r\nContent-Disposition: form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
    return [head.encode() + b"\r\n\r\n", *chunks, b"\r\n"]


BODIES = {
    "a file": (MULTIPART, part("file", *[CHUNK] * 4 * CHUNKS, file="topics.txt")),
    "many fields": (MULTIPART, [piece for n in range(40) for piece in part(f"f{n}", *[CHUNK] * 3)]),
    "many values": (URLENCODED, [piece for n in range(40) for piece in (f"&f{n}=".encode(), *[CHUNK] * 3)]),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(("path", "bytes_max"), [("/submit", FORM_BYTES_MAX), ("/open", SIGN_IN_BYTES_MAX)])
async def test_a_form_is_read_up_to_what_it_may_have_in_all(
    client: httpx2.AsyncClient, name: str, path: str, bytes_max: int
):
    kind, chunks = BODIES[name]
    answer = await client.post(path, content=stream(chunks), headers={"Content-Type": kind})
    assert answer.status_code == 413, answer.text
    assert "A form may have" in answer.text
    assert f"{bytes_max:,} bytes" in answer.text


@pytest.mark.parametrize(
    "path",
    sorted(
        route.path for route in all_routes() if isinstance(route, Route) and "POST" in (route.methods or ())
    ),
)
async def test_a_form_may_come_with_what_a_browser_sends_beside_its_fields(
    client: httpx2.AsyncClient, path: str
):
    answer = await client.post(path.format(id=uuid4(), name="nobody"), data={"button": "", "submit": "Send"})
    assert answer.status_code < 500
    assert "Extra inputs are not permitted" not in answer.text


async def test_a_box_without_a_value_is_ticked(client: httpx2.AsyncClient, taught: Taught, shelf: Shelf):
    written_lesson(shelf, taught)
    form = {"node": str(taught.thickness), "unused": "x"}
    batches = [
        (await client.post("/subjects/sea-ice/lessons", data=form | more)).headers["location"]
        for more in ({}, {}, {"again": "on"})
    ]
    assert batches[0] == batches[1] != batches[2]


async def test_a_field_has_the_bounds_and_the_choices_of_its_act(client: httpx2.AsyncClient):
    page = (await client.get("/keys")).text
    for field in (
        '<input id="name" name="name" maxlength="64" required value=""',
        '<input id="requests_per_minute" name="requests_per_minute" type="number" min="1" max="1000000" value=""',
        '<input id="budget_usd" name="budget_usd" inputmode="decimal" value=""',
        '<option value="total" selected>all time</option>',
    ):
        assert field in page
    refused = (await client.post("/keys", data={"name": "?", "scope": "submit", "budget_usd": "2"})).text
    for field in ('name="budget_usd" inputmode="decimal" value="2"', '<option value="submit" selected>'):
        assert field in refused


async def test_a_hint_gives_the_value_of_a_default(client: httpx2.AsyncClient, settings: Settings):
    page = (await client.get("/submit")).text
    for hint in (
        f"Model of the runs. Default: {settings.model}.",
        f"What each run may cost. Default: {usd(settings.run_budget_usd)}.",
        f"Model replies a run may take. Default: {settings.max_turns}.",
    ):
        assert hint in page
    assert "CHIRON_" not in page
    page = (await client.get("/schedules")).text
    assert f"Default, and most: {usd(settings.run_budget_usd)}." in page
    assert "CHIRON_" not in page


def test_a_hint_says_where_there_is_no_default_limit(settings: Settings):
    unlimited = settings.model_copy(update={"run_budget_usd": None})
    hint = Form(BatchRequest, settings=unlimited).hint("run_budget_usd")
    assert hint == "What each run may cost. Default: no limit."
