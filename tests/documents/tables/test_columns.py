"""A column gets a type only if each of its values survives it; what stays text although it looks like numbers has a note."""

import pytest
from documents.tables.test_query import ask, described, made


def column(*cells: str, delimiter: str = ",") -> tuple[str, list[object], list[str]]:
    """The type of a column with these cells, its values, and the notes on its table."""
    quoted = [f'"{cell}"' if delimiter in cell else cell for cell in cells]
    files = made("\n".join([f"a{delimiter}b", *(f"{cell}{delimiter}x" for cell in quoted)]) + "\n")
    [table] = described(files)
    return table.columns[0].type, [row[0] for row in ask(files, "select a from a").rows], table.notes


@pytest.mark.parametrize(
    "cells",
    [
        ["1E2", "2E3"],
        ["1e5", "4"],
        ["+4930123456", "+4930123457"],
        ["007", "8"],
        ["00.5", "1.5"],
        ["1.9", "1.10"],
        ["1 500", "2 000"],
        ["5.", "6."],
        ["123456789012345678901234567890123456789012345", "1"],
        ["12345678901234567890123456789.0123456789012345", "1.5"],
        ["inf", "1.5"],
        ["0x1F", "1"],
        ["1_000", "2"],
        ["1.0e999", "1.5"],
        ["1.5e-400", "1.5"],
    ],
)
def test_a_value_that_a_number_would_not_give_back_stays_text(cells: list[str]) -> None:
    kind, values, _ = column(*cells)
    assert (kind, values) == ("VARCHAR", cells)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2"], "BIGINT", [1, -2]),
        (["12345678901234567890", "12345678901234567891"], "HUGEINT", [12345678901234567890, 12345678901234567891]),
        (["0.10", "0.20"], "DECIMAL(3,2)", ["0.10", "0.20"]),
        (["12.50", "100", "7.25"], "DECIMAL(5,2)", ["12.50", "100.00", 7.25]),
        (["12345678901234567.89", "0.01"], "DECIMAL(19,2)", ["12345678901234567.89", 0.01]),
        (["12.5", "3.25", "40"], "DOUBLE", [12.5, 3.25, 40.0]),
        (["1.10", "1.20"], "DECIMAL(3,2)", ["1.10", "1.20"]),
        (["0.0e5", "1.5e+3"], "DOUBLE", [0.0, 1500.0]),
        (["2.0", "2.25"], "DOUBLE", [2.0, 2.25]),
        (["0.30000000000000004", "0.1"], "DOUBLE", [0.30000000000000004, 0.1]),
        (["1.5e-7", "6.02e+23", "2.5E3"], "DOUBLE", [1.5e-7, 6.02e23, 2500.0]),
        ([".5", "-.25"], "DOUBLE", [0.5, -0.25]),
        (["", "7", ""], "BIGINT", [None, 7, None]),
        (["true", "FALSE"], "BOOLEAN", [True, False]),
        (["2024-02-29", "2023-01-01"], "DATE", ["2024-02-29", "2023-01-01"]),
    ],
)  # fmt: skip
def test_a_column_has_the_narrowest_type_that_gives_its_values_back(cells, kind, values) -> None:
    assert column(*cells)[:2] == (kind, values)


def test_ids_of_many_digits_are_told_apart() -> None:
    ids = ["98765432109876543210", "98765432109876543211", "98765432109876543219"]
    answer = ask(
        made("id,name\n" + "".join(f"{n},x\n" for n in ids)), "select count(distinct id), max(id) from a"
    )
    assert answer.rows == [[3, 98765432109876543219]]


def test_amounts_with_a_fixed_count_of_decimals_are_added_exactly() -> None:
    assert ask(made("a,b\n0.10,x\n0.20,x\n"), "select sum(a) from a").rows == [["0.30"]]


@pytest.mark.parametrize(
    "cells", [["1.500", "12.400", "104.250"], ["1.500", "950"], ["1.234.567", "2.000"], ["1.234,56", "7,5"]]
)
def test_groups_of_digits_in_a_file_with_semicolons_stay_text_with_a_note(cells: list[str]) -> None:
    kind, values, [note] = column(*cells, delimiter=";")
    assert (kind, values) == ("VARCHAR", cells)
    assert note.startswith(
        '"a" stays text: numbers with commas before decimals or dots between groups of digits'
    )


def test_points_before_decimals_are_read_in_a_file_with_semicolons_where_they_can_be_no_groups() -> None:
    assert column("1.5", "12.25", delimiter=";")[:2] == ("DOUBLE", [1.5, 12.25])
    assert column("0.500", "0.250", delimiter=";")[:2] == ("DECIMAL(4,3)", ["0.500", "0.250"])
    assert column("1.500", "2.250")[:2] == ("DECIMAL(4,3)", ["1.500", "2.250"])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1,500", "2,250"], "commas between groups of digits"),
        (["7.5%", "8 %"], "percentages"),
        (["1.9", "1.10"], "numbers that end in zeros"),
    ],
)
def test_other_forms_of_numbers_have_a_note(cells: list[str], words: str) -> None:
    kind, _, [note] = column(*cells)
    assert kind == "VARCHAR"
    assert words in note


def test_words_and_ids_have_no_note() -> None:
    assert column("007", "8")[2] == column("north", "1.5")[2] == column("+49 30", "1")[2] == []


def test_a_group_of_digits_behind_many_rows_has_a_note() -> None:
    cells = [*(str(n % 900 + 1) for n in range(3_000)), "1.500"]
    kind, _, [note] = column(*cells, delimiter=";")
    assert kind == "VARCHAR"
    assert note.startswith('"a" stays text')
