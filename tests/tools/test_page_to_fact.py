"""From a page or file to a fact: what raised, deleted and noted words become, and which quotes of them a fact may have."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Caller

Call = Callable[..., Awaitable[Any]]
GOLDEN = Path(__file__).parents[1] / "golden"
FACT = {"subject_id": "moon", "source_score": 0.9, "topic_path": "air/pressure", "confidence": 0.9}
PRESSURE = "Pressure at sea level is 1.01 × 10⁵ Pa, and 10⁻³ of it is left at 50 km."


@pytest.fixture
async def site(setting: Callable[[str, str], None]) -> AsyncIterator[str]:
    """The address of a server that has a page and a PDF."""
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
    app = web.Application()
    app.router.add_static("/", GOLDEN)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


@pytest.mark.parametrize("name", ["measures.html", "measures.pdf"])
async def test_a_power_on_a_page_stays_one_up_to_the_fact(
    site: str, name: str, call: Call, in_a_run: Caller
) -> None:
    page = await call("web_fetch", {"url": site + name}, in_a_run)
    fact = FACT | {"source_url": page["url"], "content": PRESSURE}
    for words in ("1.01 × 105 Pa, and", "1.01 × 10 Pa, and", "1.01 × 10^-5 Pa, and"):
        with pytest.raises(ToolError, match="these words do not stand in the page"):
            await call("store_knowledge", fact | {"quote": f"Pressure at sea level is {words}"}, in_a_run)
    receipt = await call(
        "store_knowledge", fact | {"quote": "Pressure at sea level is 1.01 × 10^5 Pa, and"}, in_a_run
    )
    assert receipt["status"] == "stored"
    assert "".join(receipt["quote"].split()) == "".join(PRESSURE.split())


async def test_what_a_page_deleted_cannot_be_quoted(site: str, call: Call, in_a_run: Caller) -> None:
    page = await call("web_fetch", {"url": f"{site}measures.html"}, in_a_run)
    fact = FACT | {"source_url": page["url"], "content": "The rate fell to 21% in some towns."}
    with pytest.raises(ToolError, match="these words do not stand in the page"):
        await call("store_knowledge", fact | {"quote": "The rate fell to 50% 21% in some towns"}, in_a_run)
    receipt = await call("store_knowledge", fact | {"quote": "The rate fell to 21 % in some towns"}, in_a_run)
    assert (receipt["verdict"], receipt["context"]) == ("unchecked", "Deleted and inserted")


async def test_a_note_in_a_file_joins_no_number(
    tmp_path: Path, call: Call, in_a_run: Caller, setting: Callable[[str, str], None]
) -> None:
    shutil.copy(GOLDEN / "measures.docx", tmp_path)
    setting("FILES", str(tmp_path))
    file = await call("file_reader", {"path": "measures.docx"}, in_a_run)
    fact = FACT | {"source_url": file["url"], "content": "Of the mice, 37 were ill."}
    with pytest.raises(ToolError, match="the page says '3⁷'"):
        await call("store_knowledge", fact | {"quote": "Of the mice, 37 were ill"}, in_a_run)
