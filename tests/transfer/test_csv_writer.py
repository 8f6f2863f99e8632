import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_api.transfer.csv_writer import COLUMNS, CsvWriter, guarded

SIGNS = "=+-@＝＋－＠"


@given(st.one_of(st.text(), st.text(alphabet="=+-@'\t\r\n;,| ＝；a")))
def test_a_guarded_cell_is_no_formula_at_any_separator_and_holds_its_text(cell):
    for part in re.split(r"[;,|\t\r\n；，｜]", guarded(cell)):
        assert not part.lstrip(' "').startswith(tuple(SIGNS))
    assert not guarded(cell).startswith(("\t", "\r", "\n"))
    assert guarded(cell).replace("'", "") == cell.replace("'", "")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("a;=1+1", "a;'=1+1"),
        ("a\t@SUM(1)", "a\t'@SUM(1)"),
        ("a\r\n＝1", "a\r\n'＝1"),
        ('a,"-cmd', "a,'\"-cmd"),
        ("1 - 2 = -1, or so", "1 - 2 = -1, or so"),
        ("no formula", "no formula"),
    ],
)
def test_a_formula_behind_a_separator_becomes_text(cell, text):
    assert guarded(cell) == text


def test_each_assertion_is_a_row_and_only_the_first_tells_of_the_fact_and_its_subject():
    assertion = dict.fromkeys(
        (
            "content",
            "quote",
            "quote_state",
            "quote_start",
            "quote_end",
            "source_score",
            "claimed_score",
            "source_kind",
            "claimed_confidence",
            "context",
            "verdict",
            "verdict_reason",
            "verdict_by",
            "observed_at",
            "valid_from",
            "valid_until",
            "ground",
            "created_at",
        )
    )
    near = {**assertion, "id": "1", "source_url": "https://a.test/", "snapshot_hash": "aa"}
    far = {**assertion, "id": "2", "source_url": "https://b.test/", "snapshot_hash": None}
    fact = {"kind": "fact", "id": "1", "subject_id": "ice", "created_at": None, "links": [{"other_id": "3"}]}
    writer = CsvWriter()
    text = writer.head()
    text += writer.rows({"kind": "subject", "subject_id": "ice", "title": "=Ice"})
    text += writer.rows({"kind": "source", "url": "https://a.test/", "hash": "aa", "title": "A"})
    text += writer.rows({**fact, "assertions": [near, far]})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["assertion_id"] for row in rows] == ["1", "2"]
    assert [row["subject_title"] for row in rows] == ["'=Ice", ""]
    assert [row["source_title"] for row in rows] == ["A", ""]
    assert [json.loads(row["links"] or "[]") for row in rows] == [[{"other_id": "3"}], []]
