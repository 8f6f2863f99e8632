import time
from datetime import UTC, date, datetime

import pytest

from chiron_api.cli.input.times import parse_time


@pytest.fixture(autouse=True)
def kolkata(monkeypatch: pytest.MonkeyPatch):
    """Half past five ahead of UTC, all year."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-01T09:30Z", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30+02:00", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
        (" 2026-03-01 09:30:15 ", datetime(2026, 3, 1, 4, 0, 15, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 2, 28, 18, 30, tzinfo=UTC)),
        (date(2026, 3, 1), datetime(2026, 2, 28, 18, 30, tzinfo=UTC)),
        (datetime(2026, 3, 1, 9, 30), datetime(2026, 3, 1, 4, 0, tzinfo=UTC)),
    ],
)
def test_a_time_without_a_zone_is_local(written: object, meant: datetime):
    assert parse_time(written) == meant


@pytest.mark.parametrize("written", ["", "soon", "2026-02-30", "1767225600", 1767225600, "0001-01-01", None])
def test_what_is_no_time_is_refused_with_an_example(written: object):
    with pytest.raises(ValueError, match="must be a time such as 2026-03-01T09:30"):
        parse_time(written)
