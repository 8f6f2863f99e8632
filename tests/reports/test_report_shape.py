"""A report begins with its answers and ends with how it was made, in the same order in every format."""

import json
import xml.etree.ElementTree as ET
import zipfile
from io import BytesIO

import pytest
from reports.test_questions import rendered
from support.client_batch import lakes_batch, question
from support.research_rows import Shelf
from support.row_answers import cell, handing_in, known_fact, play_rows
from support.run_harness import Stage
from support.scripted_model import calls
from support.statement_judges import Opinion, judging

from chiron_api.crate.active_content import check_page
from chiron_api.reports.crate.remaking import write_page
from chiron_api.reports.crate.rereading import reread
from chiron_api.reports.formats import docx
from chiron_api.reports.formats.obsidian import notes
from chiron_api.reports.gathering import gather
from chiron_api.reports.report import Report
from chiron_workers.db.connect import Pool

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def text_of(report: Report, form: str) -> str:
    text = dict(notes(report))["Index.md"] if form == "obsidian" else rendered(report, form)
    return text[text.index("<main") :] if form == "html" else text.replace("\\", "")


@pytest.mark.parametrize("form", ["md", "html", "docx", "obsidian"])
async def test_every_document_has_the_same_parts_in_the_same_order(
    shelf: Shelf, pool: Pool, form: str
) -> None:
    report = await gather(pool, lakes_batch(shelf, questions=4, fruitless=1))
    whole = rendered(report, "html") if form == "html" else text_of(report, form)
    assert "4 questions on Lakes, researched on 1 March 2026: 6 facts from 6 sources." in whole
    text = text_of(report, form)
    headings = ["Summary", "Charts", "Questions", "Sources", "How this report was made", "Models", "Runs"]
    forms = {"html": ">{}</h", "docx": "{}"}
    places = [text.index(forms.get(form, "# {}\n").format(name)) for name in headings]
    assert places == sorted(places)
    assert "… has a maximum depth of … metres" in text
    if form != "docx":  # whose tables are no paragraphs
        summary = text[places[0] : places[1]]
        questions = [summary.index(question(name)) for name in ("Abaya", "Baikal", "Chad", "Erie")]
        assert questions == sorted(questions)
        assert "Lake Baikal is 67 metres deep at most, by the survey of 2019." in summary
        assert "Nothing found. I found no source that gives a depth." in summary
    document = json.loads(rendered(report, "json"))
    assert [line["facts"] for line in document["summary"]] == [2, 2, 2, 0]
    assert document["lead"].startswith("4 questions on Lakes")


async def test_the_summary_passes_over_an_introduction(shelf: Shelf, pool: Pool) -> None:
    batch = lakes_batch(shelf, questions=2)
    shelf.connection.execute(
        "update runs set answer = 'I have read four surveys, and this is what they say. ' || answer where batch_id = %s",
        (batch,),
    )
    summary = json.loads(rendered(await gather(pool, batch), "json"))["summary"]
    assert all(line["answer"].startswith("Lake ") for line in summary)


async def test_a_chart_of_word_has_the_numbers_and_each_links_to_its_finding(
    shelf: Shelf, pool: Pool
) -> None:
    report = await gather(pool, lakes_batch(shelf, questions=4))
    file = BytesIO(b"".join(docx.render(report)))
    with zipfile.ZipFile(file) as parts:
        chart = ET.fromstring(parts.read("word/charts/chart1.xml"))  # noqa: S314  # our own words
        body, types = parts.read("word/document.xml").decode(), parts.read("[Content_Types].xml").decode()
        relations = parts.read("word/_rels/document.xml.rels").decode()
    values = [point.findtext(f"{CHART}v") for point in chart.iterfind(f".//{CHART}numLit/{CHART}pt")]
    assert values == ["101.0", "84.0", "67.0", "50.0"]
    names = [point.findtext(f"{CHART}v") for point in chart.iterfind(f".//{CHART}strLit/{CHART}pt")]
    assert names == ["Lake Erie", "Lake Chad", "Lake Baikal", "Lake Abaya"]
    assert "charts/chart1.xml" in types and "charts/chart1.xml" in relations
    [points] = [chart.points for chart in report.charts]
    caption = body.index("has a maximum depth of")
    links = [body.index(f'w:anchor="f{point.finding}"', caption) for point in points]
    assert links == sorted(links)


async def test_a_page_with_charts_holds_nothing_that_could_run(shelf: Shelf, pool: Pool) -> None:
    report = await gather(pool, lakes_batch(shelf, questions=4))
    page = b"".join(write_page(report))
    assert b"<svg" in page
    assert list(check_page(page)) == []
    assert b"".join(write_page(reread(rendered(report, "json").encode()))) == page
    for tag in (b"<script>", b"<image>", b'<a onclick="x">', b"<animate>", b"<foreignObject>", b"<style>"):
        assert list(check_page(page.replace(b"</svg>", tag + b"</svg>"))), tag


async def test_rows_are_the_summary_where_columns_were_asked_for(stage: Stage, shelf: Shelf) -> None:
    shelf.subject("databases", "Databases")
    fact = known_fact(shelf, "Lake Baikal is 1642 metres deep.")
    row = {"cells": {"name": cell("Baikal", fact), "depth": cell(1642, fact)}}
    run_id, _, _ = await play_rows(
        stage, calls(handing_in(row)), columns="name, depth:int", judge=judging(lambda item: Opinion())
    )
    report = await gather(stage.pool, run_id)
    assert report.table
    [number] = {finding.number for finding in report.findings}
    assert [[part.text for part in line.cells] for line in report.table.rows] == [["Baikal", "1642"]]
    assert {part.findings for line in report.table.rows for part in line.cells} == {(number,)}
    assert f"| Baikal (finding {number}) | 1642 (finding {number}) |" in rendered(report, "md")
    assert f'<a href="#f{number}" aria-label="1642, finding {number}">' in rendered(report, "html")
    assert json.loads(rendered(report, "json"))["table"]["columns"] == ["name", "depth"]
