"""`chiron corpus add` says what a document holds and its text does not; `chiron show` of a fact, what its source does."""

import json
from pathlib import Path

from support.research_rows import Shelf

SENTENCE = "The quay of Lake Orwena was built in {year} for ships of up to 120 m."
PAGE = (
    "<!doctype html><html><head><title>Quays</title></head><body><article><h1>Quays</h1>"
    + "".join(f"<p>{SENTENCE.format(year=year)}</p>" for year in (1921, 1934, 1955))
    + "<p>The rate is <canvas></canvas> of all, and <canvas></canvas> of some.</p></article></body></html>"
)


def test_what_is_left_out_of_a_document_is_printed_when_it_is_added(chiron, tmp_path: Path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "quays.html").write_text(PAGE)
    (folder / "lake.md").write_text("# Lake\n\nThe lake is deep.")
    output = chiron("corpus", "add", str(folder), "--subject", "Lakes").output
    assert "Left out of quays.html: 2 drawings (first: <canvas>).\n" in output
    assert "Left out of lake.md" not in output
    answer = json.loads(chiron("corpus", "add", str(folder), "--subject", "Lakes", "--json").stdout)
    assert answer["left_out"] == [
        {"path": "quays.html", "left_out": [{"kind": "drawing", "count": 2, "place": "<canvas>"}]}
    ]


def test_a_fact_shows_what_was_left_out_of_its_source(chiron, shelf: Shelf):
    shelf.subject("lakes")
    url, text = "https://example.org/quays", "The quay is 240 m long. It is [formula] wide."
    fact_id = shelf.fact("lakes", "It is long.", url, quote="The quay is 240 m long.", text=text)
    assert "left out" not in chiron("show", str(fact_id)).stdout
    gaps = '[{"kind": "formula", "count": 3, "place": "page 2\\u001b[31m"}]'
    shelf.connection.execute("update fetches set left_out = %s", (gaps,))
    assert "     left out of this source: 3 formulas (first: page 2)\n" in chiron("show", str(fact_id)).stdout
    [assertion] = json.loads(chiron("show", str(fact_id), "--json").stdout)["assertions"]
    assert assertion["left_out"][0]["count"] == 3
