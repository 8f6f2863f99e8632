import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chiron_api.transfer.csv_form import COLUMNS, guarded, read_rows, unguarded
from chiron_workers.errors import UsageError


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(st.one_of(st.text(), st.text(alphabet="=+-@'\t\r\n＝a")))
def test_a_guarded_cell_is_no_formula_and_comes_back_to_the_letter(cell):
    assert guarded(cell)[:1] not in {"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"}
    assert unguarded(guarded(cell)) == cell


def rows(*changes: dict[str, str]) -> io.StringIO:
    usual = dict.fromkeys(COLUMNS, "") | {"fact_id": "1", "assertion_id": "1"}
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows([usual | change for change in changes])
    text.seek(0)
    return text


def test_the_rows_of_a_fact_become_one_record_with_the_line_it_begins_on():
    found = list(
        read_rows(rows({"content": "a\nb"}, {"assertion_id": "2"}, {"fact_id": "3", "assertion_id": "3"}))
    )
    assert [(number, [one["id"] for one in record["assertions"]]) for number, record in found] == [
        (2, ["1", "2"]), (5, ["3"])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (io.StringIO(""), "Line 1: these columns are missing or unknown"),
        (io.StringIO("a,b\n1,2\n"), "Line 1: these columns are missing or unknown: a, assertion_id, b"),
        (rows({}, {"fact_id": "2"}, {}), "Line 4: the rows of fact 1 are apart"),
        (rows({"links": "[{"}), "Line 2: links is no JSON"),
        (io.StringIO(",".join(COLUMNS) + "\r\n1,2\r\n"), "Line 2: it has 2 cells where there are"),
        (io.StringIO(",".join(COLUMNS) + '\r\n"1'), "it is no CSV"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(file, said):
    with pytest.raises(UsageError) as error:
        list(read_rows(file))
    assert said in str(error.value)
