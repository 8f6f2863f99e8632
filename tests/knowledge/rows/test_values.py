"""Values: each as the type of its column has it, or refused with what would be right."""

from typing import Any

import pytest

from chiron_workers.errors import ToolError
from chiron_workers.knowledge.rows.values import read, value_of, written
from chiron_workers.states import ColumnType as Kind


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (" PostgreSQL ", Kind.TEXT, "PostgreSQL"),
        (1996, Kind.TEXT, "1996"),
        (1996, Kind.INT, 1996),
        ("1996", Kind.INT, 1996),
        ("-12", Kind.INT, -12),
        (1996.0, Kind.INT, 1996),
        (3, Kind.FLOAT, 3.0),
        ("3.25", Kind.FLOAT, 3.25),
        ("1e3", Kind.FLOAT, 1000.0),
        (True, Kind.BOOL, True),
        ("False", Kind.BOOL, False),
        ("2026-02-28", Kind.DATE, "2026-02-28"),
        ("https://example.org/a?b=1#c", Kind.URL, "https://example.org/a?b=1#c"),
    ],
)
def test_a_value_is_as_its_column_has_it_and_read_again_as_it_was(
    value: Any, kind: Kind, expected: Any
) -> None:
    result = value_of(value, kind)
    assert (type(result), result) == (type(expected), expected)
    assert read(written(result), kind) == result


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, Kind.TEXT),
        ("x" * 2_001, Kind.TEXT),
        ("1,996", Kind.INT),
        ("1996.5", Kind.INT),
        (1996.5, Kind.INT),
        ("about 1996", Kind.INT),
        ("１９９６", Kind.INT),
        ("1" * 19, Kind.INT),
        (True, Kind.INT),
        (float("inf"), Kind.INT),
        (float("nan"), Kind.FLOAT),
        ("1e999", Kind.FLOAT),
        ("3,5", Kind.FLOAT),
        (False, Kind.FLOAT),
        ("yes", Kind.BOOL),
        (1, Kind.BOOL),
        ("2026-02-30", Kind.DATE),
        ("2026", Kind.DATE),
        ("1 March 2026", Kind.DATE),
        ("20260301", Kind.DATE),
        ("javascript:alert(1)", Kind.URL),
        ("example.org", Kind.URL),
        ("https://", Kind.URL),
        ("https://exa mple.org", Kind.URL),
        ("https://[", Kind.URL),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_would_be_right(value: Any, kind: Kind) -> None:
    with pytest.raises(ToolError, match=r"^must be .* \(got "):
        value_of(value, kind)
