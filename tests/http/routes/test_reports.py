from io import BytesIO

import pytest
from docx import Document
from support.research_rows import Shelf


@pytest.fixture
def ducks(database_url):
    """(a batch, its run) with one fact and one candidate."""
    shelf = Shelf(database_url)
    batch = shelf.batch(shelf.subject("birds", "Birds"), "Ducks")
    run = shelf.run("birds", batch, "What do ducks do?")
    shelf.fact("birds", "Ducks dive for food.", "https://example.org/a", "ducks/food", run_id=run)
    shelf.fact("birds", "Ducks sing.", "https://example.org/b", "ducks", run_id=run, status="candidate")
    shelf.connection.close()
    return batch, run


async def test_runs_batches_and_subjects_have_reports(client, ducks):
    for place in (f"batches/{ducks[0]}", f"runs/{ducks[1]}", "subjects/birds"):
        answer = await client.get(f"/v1/{place}/report")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        found = answer.json()
        assert [one["content"] for one in found["sections"][0]["findings"]] == ["Ducks dive for food."]
        counts = dict.fromkeys(("disputed", "superseded", "withdrawn"), 0)
        assert found["counts"] == counts | {"accepted": 1, "candidate": 1}


async def test_candidates_come_when_they_are_asked_for(client, ducks):
    found = (await client.get(f"/v1/runs/{ducks[1]}/report?candidates=true")).json()
    [section] = found["sections"]
    assert {finding["status"] for finding in section["findings"]} == {"accepted", "candidate"}


async def test_other_forms_can_be_asked_for(client, ducks):
    place = f"/v1/batches/{ducks[0]}/report"
    page = await client.get(f"{place}?format=html")
    assert page.text.startswith("<!doctype html>")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert (await client.get(f"{place}?format=md")).text.startswith("# Ducks")
    document = await client.get(f"{place}?format=docx")
    assert Document(BytesIO(document.content)).paragraphs[0].text == "Ducks"


@pytest.mark.parametrize(
    ("name", "media_type", "words"),
    [
        ("csl-json", "application/vnd.citationstyles.csl+json", '"URL": "https://example.org/a"'),
        ("bibtex", "application/x-bibtex", "url = {https://example.org/a}"),
        ("ris", "application/x-research-info-systems", "UR  - https://example.org/a\r\n"),
    ],
)
async def test_the_sources_come_as_bibliographies(client, ducks, name, media_type, words):
    answer = await client.get(f"/v1/batches/{ducks[0]}/report?format={name}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
    assert words in answer.text
    assert "example.org/b" not in answer.text


@pytest.mark.parametrize("name", ["obsidian", "crate"])
async def test_a_format_of_many_files_is_refused(client, ducks, name):
    answer = await client.get(f"/v1/runs/{ducks[1]}/report?format={name}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
