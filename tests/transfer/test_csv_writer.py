import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from chiron_api.transfer.csv_writer import COLUMNS, CsvWriter, guarded


@given(st.one_of(st.text(), st.text(alphabet="=+-@'\t\r\n＝a")))
def test_a_guarded_cell_is_no_formula_and_holds_its_text(cell):
    assert guarded(cell)[:1] not in {"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"}
    assert guarded(cell).removeprefix("'") == cell


def test_each_assertion_is_a_row_and_only_the_first_tells_of_the_fact_and_its_subject():
    assertion = dict.fromkeys(
        (
            "content",
            "quote",
            "quote_state",
            "quote_start",
            "quote_end",
            "source_score",
            "claimed_confidence",
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
