"""Cron expressions on the clocks of real time zones, over the days on which these are changed."""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chiron_workers.errors import UsageError
from chiron_workers.subscriptions.cron import Recurrence

HOUR = timedelta(hours=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(cron: str, zone: str, *, after: str, until: str) -> list[str]:
    """What is due in a span, as `DD HH:MM` in UTC."""
    found, moment = [], utc(after)
    while (moment := Recurrence(cron, zone).next_after(moment)) <= utc(until):
        found.append(f"{moment:%d %H:%M}")
    return found


def test_a_time_of_day_follows_the_clock_on_the_wall() -> None:
    berlin = Recurrence("0 9 * * *", "Europe/Berlin")
    assert berlin.next_after(utc("2026-01-10 12:00")) == utc("2026-01-11 08:00")
    assert berlin.next_after(utc("2026-07-10 12:00")) == utc("2026-07-11 07:00")
    assert Recurrence("0 9 * * MON", "Asia/Kolkata").next_after(utc("2026-01-10 12:00")) == utc(
        "2026-01-12 03:30"
    )


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 9 * * *", "At 09:00 every day"),
        ("0 9 * * MON-FRI", "At 09:00 on Monday through Friday"),
        ("0 9 1 * *", "At 09:00 on the first day of every month"),
        ("5  4 * * 1", "At 04:05 on Monday"),
        ("0 9 1 * MON", ""),
        ("*/7 1-5/2 * 2-4 *", ""),
    ],
)
def test_recurrence_has_words_where_these_are_short_and_clear(cron: str, words: str) -> None:
    assert Recurrence(cron, "UTC").words == words


def test_words_of_what_is_no_expression_raise() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        _ = Recurrence("0 9 * * someday", "UTC").words


@pytest.mark.parametrize(
    ("cron", "zone", "after", "until", "due"),
    [
        # Berlin goes from 2:00 to 3:00 on 2026-03-29 and from 3:00 back to 2:00 on 2026-10-25.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", "2026-03-30 12:00", ["28 01:30", "29 01:00", "30 00:30"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24 00:00", "2026-10-26 12:00", ["24 00:30", "25 00:30", "26 01:30"]),
        ("0 2,3 * * *", "Europe/Berlin", "2026-03-29 00:00", "2026-03-29 12:00", ["29 01:00"]),
        ("0 2,3 * * *", "Europe/Berlin", "2026-10-24 23:00", "2026-10-25 12:00", ["25 00:00", "25 02:00"]),
        ("0 */2 * * *", "Europe/Berlin", "2026-10-24 23:00", "2026-10-25 04:00", ["25 00:00", "25 03:00"]),
        # Every hour is every hour that passes.
        ("0 * * * *", "Europe/Berlin", "2026-10-24 23:00", "2026-10-25 03:00", ["25 00:00", "25 01:00", "25 02:00", "25 03:00"]),
        ("0 * * * *", "Europe/Berlin", "2026-03-28 23:30", "2026-03-29 02:00", ["29 00:00", "29 01:00", "29 02:00"]),
        # New York changes at 2:00, Lord Howe by half an hour, Beirut and Cairo at midnight, and Apia left out a day.
        ("15 1 * * *", "America/New_York", "2026-10-31 12:00", "2026-11-02 12:00", ["01 05:15", "02 06:15"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 00:00", "2026-10-04 20:00", ["03 15:30", "04 15:15"]),
        ("0 0 * * *", "Africa/Cairo", "2026-04-22 12:00", "2026-04-25 00:00", ["22 22:00", "23 22:00", "24 21:00"]),
        ("0 9 30 12 *", "Pacific/Apia", "2011-12-01 00:00", "2012-01-31 00:00", ["30 10:00"]),
    ],
)  # fmt: skip
def test_a_time_that_is_skipped_or_shown_twice_comes_exactly_once(
    cron: str, zone: str, after: str, until: str, due: list[str]
) -> None:
    assert times(cron, zone, after=after, until=until) == due


def test_whoever_asks_in_the_hour_that_is_repeated_gets_the_next_day() -> None:
    recurrence = Recurrence("45 2 * * *", "Europe/Berlin")
    first, again = utc("2026-10-25 00:45"), utc("2026-10-25 01:45")
    assert recurrence.next_after(first - timedelta(minutes=1)) == first
    for moment in (first, again - timedelta(minutes=15), again):
        assert recurrence.next_after(moment) == utc("2026-10-26 01:45")


@settings(max_examples=60)
@given(
    zone=st.sampled_from(["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca",
                          "America/Havana", "Asia/Beirut", "Pacific/Chatham", "America/St_Johns"]),
    day=st.datetimes(datetime(2017, 1, 1), datetime(2018, 12, 30)),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)  # fmt: skip
def test_every_local_day_has_its_time_once_and_never_far_from_where_it_belongs(
    zone: str, day: datetime, hour: int, minute: int
) -> None:
    recurrence = Recurrence(f"{minute} {hour} * * *", zone)
    moment, found = day.replace(tzinfo=UTC), []
    for _ in range(5):
        found.append(moment := recurrence.next_after(moment))
    days = [time.astimezone(ZoneInfo(zone)).date() for time in found]
    assert all(later - earlier == timedelta(days=1) for earlier, later in pairwise(days))
    assert all(
        timedelta(hours=22) <= later - earlier <= timedelta(hours=26) for earlier, later in pairwise(found)
    )


@pytest.mark.parametrize(
    ("cron", "zone", "words"),
    [
        ("0 25 * * *", "UTC", "cannot be read (Bad hour)"),
        ("daily", "UTC", "Write five fields"),
        ("0 0 9 * * *", "UTC", "Write five fields"),
        ("0 9 * * " + "1," * 60 + "1", "UTC", "Write five fields"),
        ("0 9 31 2 *", "UTC", "Bad day-of-month"),
        ("0 9 29 2 *", "Mars/Olympus", "There is no time zone 'Mars/Olympus'"),
        ("0 9 * * *", "../../etc/passwd", "There is no time zone"),
        ("0 9 * * *", "", "There is no time zone"),
        ("0 9 * * *", "Europe", "There is no time zone"),
        ("*/15 * * * *", "UTC", "comes every 15 minutes at times; at least 60 minutes"),
        ("0,50 9 1 1 *", "UTC", "comes every 50 minutes at times"),
    ],
)  # fmt: skip
def test_what_cannot_recur_is_refused_with_a_sentence(cron: str, zone: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Recurrence(cron, zone).check(at_least=HOUR)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "cron", ["0 * * * *", "30 9 * * MON-FRI", "0 0 29 2 *", "0 9 L * *", "0 9 * * 1#2", "5 4 1,15 * *"]
)
def test_what_can_recur_is_accepted(cron: str) -> None:
    Recurrence(cron, "Europe/Berlin").check(at_least=HOUR)


def test_what_comes_once_in_28_years_is_checked_without_holding_up_the_runs_of_a_worker() -> None:
    began = time.thread_time()
    Recurrence("0 9 29 2 */7", "Europe/Berlin").check(at_least=HOUR)
    assert time.thread_time() - began < 1  # a collection of garbage may fall into it


@settings(max_examples=300)
@given(
    cron=st.text(alphabet="0123456789*/,-#LWMON abc²", max_size=30),
    zone=st.sampled_from(["UTC", "Asia/Beirut"]),
)
def test_no_expression_gives_anything_but_a_time_or_a_sentence(cron: str, zone: str) -> None:
    moment = utc("2026-03-29 00:10")
    try:
        assert Recurrence(cron, zone).next_after(moment) > moment
    except UsageError as error:
        assert str(error).endswith((".", "again."))
