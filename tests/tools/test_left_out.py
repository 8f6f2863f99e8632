"""What a reader left out reaches the agent with the text: of pages, files, parts of files and tables."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from aiohttp import web
from aiohttp.test_utils import TestServer

from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.documents.tables.load import TableFile
from chiron_workers.documents.tables.query import describe_tables, query_tables
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Caller
from chiron_workers.tools.tables import _result, _table

Call = Callable[..., Awaitable[Any]]
SENTENCES = [
    f"The quay of Lake Orwena was built in {year} for ships of 120 m." for year in (1921, 1934, 1955)
]
PAGE = (
    "<!doctype html><html><head><title>Quays</title></head><body><article><h1>Quays</h1>"
    + "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    + "<p>The daily dose is 5 <img src='micro.gif'>g for each fish.</p><p>A child of the lake eats two fish a day.</p>"
    "<p>The rate is <canvas></canvas> of all.</p><p>It is <del>two</del> three.</p></article></body></html>"
)
LEFT_OUT = "1 passage that is struck out, 1 drawing (<canvas>), 1 picture without text (<img> micro.gif)"
FACT = {"subject_id": "moon", "source_score": 0.9, "topic_path": "fish/food", "confidence": 0.9}


@pytest.fixture
async def address(setting: Callable[[str, str], None]) -> AsyncIterator[str]:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


async def test_a_page_is_given_with_what_was_left_out_also_from_the_store(
    address: str, call: Call, in_a_run: Caller
) -> None:
    for _ in range(2):
        page = await call("web_fetch", {"url": address}, in_a_run)
        assert page["left_out"] == LEFT_OUT
        assert "The daily dose is 5 [picture without text]g for each fish." in page["text"]


async def test_a_fact_whose_quote_spans_a_mark_is_refused_and_one_beside_it_stored(
    address: str, call: Call, in_a_run: Caller
) -> None:
    page = await call("web_fetch", {"url": address}, in_a_run)
    fact = FACT | {"source_url": page["url"], "content": "The daily dose is 5 g for each fish."}
    for quote in ("The daily dose is 5 [picture without text]g for each fish.", "The daily dose is 5"):
        with pytest.raises(ToolError, match=r"quote: its passage holds '\[picture without text\]'"):
            await call("store_knowledge", fact | {"quote": quote}, in_a_run)
    words = "A child of the lake eats two fish a day."
    receipt = await call("store_knowledge", fact | {"content": words, "quote": words}, in_a_run)
    assert receipt["status"] == "stored"


async def test_a_file_is_given_with_what_was_left_out_and_a_range_with_what_concerns_it(
    tmp_path: Path, call: Call, in_a_run: Caller, setting: Callable[[str, str], None]
) -> None:
    (tmp_path / "quays.html").write_text(PAGE)
    setting("FILES", str(tmp_path))
    file = await call("file_reader", {"path": "quays.html"}, in_a_run)
    assert file["left_out"] == LEFT_OUT
    lines = file["text"].split("\n")
    number = next(n for n, line in enumerate(lines, 1) if "daily dose" in line)
    part = await call("file_reader", {"path": "quays.html", "range": f"{number}-{number + 1}"}, in_a_run)
    assert part["left_out"] == f"1 passage that is struck out, 1 picture without text (line {number})"
    (tmp_path / "whole.txt").write_text("The lake is deep.")
    assert "left_out" not in await call("file_reader", {"path": "whole.txt"}, in_a_run)


def test_a_table_and_the_answer_of_a_query_say_what_the_file_has_beside_it() -> None:
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer) as workbook:
        sheet = workbook.add_worksheet("Quays")
        sheet.write_column(0, 0, ["name", "east", "west"])
        for row in (1, 2):
            sheet.write_comment(row, 0, "closed in winter")
    files, limits = (TableFile("quays.xlsx", buffer.getvalue()),), Limits()
    [table] = describe_tables(files, limits=limits)
    answer = query_tables(files, "select count(*) from quays", rows_max=5, limits=limits)
    assert _table(table)["left_out"] == "2 comments (first: sheet Quays)"
    assert _result(answer, max_rows=5)["left_out"] == "2 comments (first: sheet Quays)"
    assert "left_out" not in _result(replace(answer, left_out=()), max_rows=5)
