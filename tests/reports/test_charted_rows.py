"""Charts in the report of a batch: of the numbers that its runs handed in, each bar leading to its finding."""

import re

from support.research_rows import Shelf
from support.row_answers import cell, handing_in, known_fact, play_rows
from support.run_harness import Stage
from support.scripted_model import calls
from support.statement_judges import Opinion, judging

from chiron_api.reports.crate.rereading import reread
from chiron_api.reports.formats.html import render
from chiron_api.reports.formats.json import render as render_json
from chiron_api.reports.gathering import gather

COLUMNS = "name, depth:float"


async def test_the_html_report_of_a_run_has_a_chart_of_its_numbers(stage: Stage, shelf: Shelf) -> None:
    shelf.subject("databases", "Databases")
    depths = {"Baikal": 1642, "Superior": 406, "Ladoga": 230}
    facts = {
        name: known_fact(shelf, f"Lake {name} is {depth} metres deep.") for name, depth in depths.items()
    }
    rows = [
        {"cells": {"name": cell(name, fact), "depth": cell(depths[name], fact)}}
        for name, fact in facts.items()
    ]
    run_id, _, [result] = await play_rows(
        stage, calls(handing_in(*rows)), columns=COLUMNS, judge=judging(lambda item: Opinion())
    )
    assert "rows_in_all" in result
    report = await gather(stage.pool, run_id)
    [chart] = report.charts
    assert [(point.label, point.value) for point in chart.points] == list(depths.items())
    page = "".join(render(report))
    numbers = {finding.fact_id: finding.number for finding in report.findings}
    links = [f"#f{numbers[str(fact)]}" for fact in facts.values() if str(fact) in numbers]
    assert re.findall(r'<a href="(#f\d+)"><title>[^<]*, finding', page[page.index("<svg") :]) == links
    assert '<li><a href="#charts">Charts</a></li>' in page
    document = "".join(render_json(report))
    assert "".join(render(reread(document.encode()))) == page, "a crate makes the page of its JSON again"


async def test_a_report_without_rows_has_no_chart(stage: Stage, shelf: Shelf) -> None:
    shelf.subject("databases", "Databases")
    known_fact(shelf)
    report = await gather(stage.pool, "databases")
    assert report.charts == ()
    assert 'id="charts"' not in "".join(render(report))
