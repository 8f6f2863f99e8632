import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as dt_time

import pytest

from chiron_api.acts.moments import Side, parse_moment, parse_time


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


def midnight(days_from_today: int) -> datetime:
    return datetime.combine(date.today() + timedelta(days_from_today), dt_time.min).astimezone(UTC)


def test_words_and_weekdays_begin_at_midnight_of_the_near_day_on_the_right_side() -> None:
    assert parse_moment("yesterday", Side.PAST) == midnight(-1)
    assert parse_moment(" Today ", Side.PAST) == midnight(0)
    assert parse_moment("tomorrow", Side.FUTURE) == midnight(1)
    for days in range(1, 8):
        past, future = date.today() - timedelta(days), date.today() + timedelta(days)
        assert parse_moment(f"{past:%A}", Side.PAST) == midnight(-days)
        assert parse_moment(f"{future:%a}", Side.FUTURE) == midnight(days)


def test_spans_count_from_now() -> None:
    for text, hours in (("2h", 2), ("7d", 168), ("2 w", 336)):
        for side in Side:
            distance = parse_moment(text, side) - datetime.now(UTC)
            assert abs(distance - side * timedelta(hours=hours)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "text", ["", "soon", "3", "7", "7x", "2026-02-30", "999999y", "1767225600", "yesterday week"]
)
def test_a_word_that_is_no_time_is_answered_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time such as yesterday, tuesday, 7d, 2h, 2026-03-01"):
        parse_moment(text, Side.PAST)
