"""Columns: what a specification names, and what no table can have."""

import pytest

from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import Column, checked_columns, columns_of, read_columns, stored
from chiron_workers.states import ColumnType


def test_a_specification_names_columns_with_their_types() -> None:
    assert read_columns(" name, year:int ,source, share : number,free:bool, on:date,page:URL") == (
        Column("name"),
        Column("year", ColumnType.INT),
        Column("source"),
        Column("share", ColumnType.FLOAT),
        Column("free", ColumnType.BOOL),
        Column("on", ColumnType.DATE),
        Column("page", ColumnType.URL),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "number 1 has no name"),
        ("name,,year", "number 2 has no name"),
        (":int", "number 1 has no name"),
        ("name,year:integerish", "'year' cannot be of the type 'integerish'; the types are text, int, float"),
        ("name:", "cannot be of the type ''"),
        ("name,Name", "number 2 is called 'Name', as one before it is"),
        ("topic", "the topic stands in front"),
        ("=cmd()", "number 1 cannot be called '=cmd()'"),
        ("1st", "cannot be called '1st'"),
        ("a[b]", "cannot be called 'a[b]'"),
        ("a\nb", "cannot be called"),
        ("x" * 61, "has a name of 61 characters"),
        (",".join(f"c{n}" for n in range(1_000)), "between 1 and 50 of them (got 1,000)"),
    ],
)
def test_what_no_table_can_have_is_refused_with_what_would_be_right(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_columns(text)
    assert words in str(refusal.value)


def test_a_description_that_is_no_text_is_refused() -> None:
    for description in ("x" * 501, "a\0b", "\ud800"):
        with pytest.raises(UsageError, match="is described in more than"):
            checked_columns([Column("name", description=description)])


def test_columns_are_read_as_they_were_stored() -> None:
    columns = (Column("name", description="who it is"), Column("year", ColumnType.INT))
    assert columns_of(stored(columns)) == columns
    assert columns_of(None) == ()
