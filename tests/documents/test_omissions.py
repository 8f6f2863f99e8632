"""What a reader leaves out: counted by kind with the first place, in words, and by the lines of a text."""

from chiron_workers.documents.omissions import (
    OMISSIONS_MAX,
    PLACE_CHARS_MAX,
    Mark,
    Omission,
    Omissions,
    as_rows,
    describe,
    from_rows,
    of_lines,
)


def test_kinds_are_counted_with_their_first_place() -> None:
    omissions = Omissions()
    assert omissions.mark(Mark.FORMULA, place="page 2") == "[formula]"
    omissions.add("comment", count=2)
    omissions.mark(Mark.FORMULA, place="page 7")
    assert omissions.all() == (Omission("formula", 2, "page 2"), Omission("comment", 2))


def test_the_list_is_bounded_and_can_be_stored_whatever_a_file_is_called() -> None:
    omissions = Omissions()
    for n in range(2 * OMISSIONS_MAX):
        omissions.add(f"kind {n}", place="a\x00b\ud800" + "x" * 500)
    parts = omissions.all()
    assert len(parts) == OMISSIONS_MAX + 1
    assert parts[-1] == Omission(Mark.UNKNOWN.value, OMISSIONS_MAX)
    assert parts[0].place == ("ab" + "x" * PLACE_CHARS_MAX)[: PLACE_CHARS_MAX - 2]


def test_omissions_are_described_with_counts_plurals_and_places() -> None:
    parts = (
        Omission("formula", 3, "page 2"),
        Omission("comment", 1),
        Omission("picture without text", 2, "sheet Costs"),
        Omission("part that is not read", 12),
        Omission("hidden row", 1, "row 7"),
    )
    assert describe(parts) == (
        "3 formulas (first: page 2), 1 comment, 2 pictures without text (first: sheet Costs), 12 parts that are not read, "
        "1 hidden row (row 7)"
    )
    assert describe(parts, kinds_max=1) == "3 formulas (first: page 2), and 4 other kinds"
    assert (describe(()), describe(None)) == ("", "")


def test_of_some_lines_the_marks_in_them_count_and_what_has_no_place_in_the_text() -> None:
    parts = (Omission("formula", 2, "page 1"), Omission("drawing", 1), Omission("comment", 4, "page 3"))
    lines = ["The sum is [formula].", "", "And [formula]; see [1] and [formula]."]
    assert of_lines(parts, lines[1:], first=2) == (
        Omission("formula", 2, "line 3"),
        Omission("comment", 4, "page 3"),
    )


def test_omissions_are_stored_as_rows_and_what_nobody_knows_stays_unknown() -> None:
    parts = (Omission("formula", 2, "“page” 1"), Omission("comment", 1))
    rows = [{"kind": part.kind, "count": part.count, "place": part.place} for part in parts]
    assert from_rows(rows) == parts
    assert as_rows(()) == "[]"
    assert (as_rows(None), from_rows(None)) == (None, None)
