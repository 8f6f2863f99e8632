"""When something recurs: a cron expression, read on the clock of a time zone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from chiron_workers.errors import TimeZoneUnknown, UsageError

CHARS_MAX = 100
TIMES_COMPARED = 100
SPAN_COMPARED = timedelta(days=800)
WORDS_CHARS_MAX = 60
SOME_MIDNIGHT = datetime(2026, 1, 1)
FORM = 'five fields, minute hour day month weekday, such as "0 9 * * MON"'


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The times at which something is due.

    An expression names times of day as the clock on the wall shows them. Each comes once a day, also on a day on which
    the clock is changed: a time that it skips comes when it goes on, and of a time that it shows twice the first
    counts. Only with `*` for the hour are the hours counted as they pass, so that nothing skips the one that is repeated.
    """

    cron: str
    time_zone: str

    @property
    def words(self) -> str:
        """The expression in words, such as "At 09:00 on Monday"; empty where that is long or ambiguous.

        Raises:
            UsageError: The expression cannot be read.
        """
        _, _, day, _, weekday = self._fields()
        if not (day.startswith("*") or weekday.startswith("*")):
            return ""  # Cron means either of the two, and "and" reads as both.
        words = self._simulation(SOME_MIDNIGHT).explain()
        return words if len(words) <= WORDS_CHARS_MAX else ""

    def check(self, *, at_least: timedelta) -> None:
        """Raise UsageError for what is no expression or no zone, never comes, or comes more often than allowed."""
        self._zone()
        times_ahead = self._times(SOME_MIDNIGHT)
        first = next(times_ahead, None)
        if first is None:
            raise UsageError(f"The time {self.cron!r} never comes.")
        # What comes once in 28 years takes long to find, and says nothing of the shortest span.
        near_times = takewhile(lambda time: time < first + SPAN_COMPARED, times_ahead)
        times = [first, *islice(near_times, TIMES_COMPARED - 1)]
        shortest = min((later - earlier for earlier, later in pairwise(times)), default=at_least)
        if shortest < at_least:
            raise UsageError(
                f"{self.cron!r} comes every {_minutes(shortest)} at times; at least {_minutes(at_least)} must lie between "
                "two times (CHIRON_SUBSCRIPTION_INTERVAL_S)."
            )

    def next_after(self, moment: datetime) -> datetime:
        """The first due time after a moment, in UTC.

        Raises:
            TimeZoneUnknown: This machine does not know the zone.
            UsageError: The expression cannot be read, or no time comes any more.
        """
        zone = self._zone()
        local = moment.astimezone(zone)
        counts_hours = self._fields()[1] == "*"
        # Without a zone CronSim goes by the clock on the wall, and knows of no change.
        times = self._times(local if counts_hours else local.replace(tzinfo=None))
        for time in times:
            due_at = (time if counts_hours else _on_the_wall(time, zone)).astimezone(UTC)
            if due_at > moment:
                return due_at
        raise UsageError(f"The time {self.cron!r} never comes again.")

    def _times(self, after: datetime) -> Iterator[datetime]:
        self._fields()
        try:
            yield from self._simulation(after)
        except OverflowError:  # the year 9999
            return

    def _simulation(self, after: datetime) -> CronSim:
        try:
            return CronSim(self.cron, after)
        except CronSimError as error:
            raise UsageError(
                f"The cron expression {self.cron!r} cannot be read ({error}). Write {FORM}."
            ) from None

    def _fields(self) -> list[str]:
        fields = self.cron.split()
        if len(fields) != 5 or len(self.cron) > CHARS_MAX:
            raise UsageError(f"The cron expression {self.cron[:CHARS_MAX]!r} cannot be read. Write {FORM}.")
        return fields

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise TimeZoneUnknown(
                f"There is no time zone {self.time_zone[:CHARS_MAX]!r}; write one such as Europe/Berlin, or UTC."
            ) from None


def _on_the_wall(time: datetime, zone: ZoneInfo) -> datetime:
    """The first moment at which a clock in the zone shows this time, or a later one where it skips it."""
    local_time = time.replace(tzinfo=zone)
    while local_time.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != time:
        time += timedelta(minutes=1)
        local_time = time.replace(tzinfo=zone)
    return local_time


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:,.6g} minutes"
