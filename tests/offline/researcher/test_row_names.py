"""The name that the offline researcher reads from a fact, and where it reads none."""

import pytest

from chiron_workers.offline.researcher.conversation import Call, Leg
from chiron_workers.offline.researcher.research import STORE
from chiron_workers.offline.researcher.rows import RowAnswer


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("PostgreSQL was first released in 1996.", "PostgreSQL"),
        ("The Bay of Fundy has the highest tides.", "Bay of Fundy"),
        ("A dpkg trigger is run by a package.", None),
        ("There will be no output.", None),
        ("During the run, a list is kept.", None),
        ("Only dpkg may create the file.", None),
    ],
)
def test_a_word_that_any_sentence_may_begin_with_is_no_name(statement: str, name: str | None) -> None:
    call = Call(STORE, {"content": statement}, result={"fact_id": "01a21482-33ec-703b-babf-fcecea6ff0a0"})
    [row] = RowAnswer(Leg(["Which are there?"], [call]), [{"name": "name", "type": "text"}]).rows
    assert row["name"]["value"] == name
