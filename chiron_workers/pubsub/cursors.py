"""Cursors: how far the stream of a batch has come, as short text that any process can go on from.

A position is a snapshot of Postgres, which says for each run how many of its events it shows, and a number for each of
the few runs that are elsewhere. Which events a snapshot shows never changes, in whatever order runs commit.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chiron_workers.errors import UsageError

TEXT_MAX = 8_000  # characters; a longer one is none of ours
EXCEPTIONS_MAX = 400  # runs of a position that are not where its snapshot has them
TRANSACTIONS_MAX = 5_000  # that a snapshot names as under way
NUMBER_MAX = 2**63
TAG_BYTES = 4
LIVE, HISTORY = 0, 1
AT_START, AT_SNAPSHOT, BEHIND_SNAPSHOT = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of Postgres: transactions below `xmin` are over, those from `xmax` on not begun, `open_xids` under way."""

    xmin: int
    xmax: int
    open_xids: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Read what `pg_current_snapshot()` says: `10:20:10,14`."""
        xmin, xmax, open_xids = text.split(":")
        return cls(int(xmin), int(xmax), tuple(int(xid) for xid in open_xids.split(",") if xid))

    def __str__(self) -> str:
        return f"{self.xmin}:{self.xmax}:{','.join(map(str, self.open_xids))}"


@dataclass(frozen=True, slots=True)
class Position:
    """How far each run of a batch has come.

    Each is where the snapshot has it, but for the `exceptions`: the seq of a run by its number, which counts the batch's
    runs by their ids. Without a snapshot each is at its beginning.
    """

    snapshot: Snapshot | None = None
    # Of the batch. Where it has another number of them by now, runs were deleted and the numbers are others.
    runs: int = 0
    exceptions: Mapping[int, int] = field(default_factory=dict)
    has_lags: bool = False  # some of the exceptions are behind the snapshot


START = Position()


@dataclass(frozen=True, slots=True)
class Page:
    """A place on the way from one position to another: so many events of a round of a group of runs."""

    group: int = 0
    round: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a stream is: at `position`, or on its way from there to `target`, of which `page` is done."""

    position: Position = START
    target: Position | None = None
    page: Page = Page()


class CursorText:
    """Cursors of one batch as text. `tag` tells them from those of another batch or another database."""

    def __init__(self, tag: int) -> None:
        self._tag = tag.to_bytes(TAG_BYTES, "big")

    def live(self, position: Position) -> str:
        """The text of a stream at a position."""
        return _text(self._tag + bytes([LIVE]) + _position(position))

    def on_the_way(self, position: Position, target: Position) -> "WayText":
        """What writes the cursors from one position to another."""
        return WayText(self._tag + bytes([HISTORY]) + _position(position) + _position(target))

    def parse(self, text: str) -> Cursor:
        """The cursor of a text. Raises UsageError for any other text, and for one of another batch or database."""
        payload = _payload(text)
        if payload[:TAG_BYTES] != self._tag:
            raise UsageError(
                "This event id is of another batch or database; follow this one from its beginning."
            )
        numbers = _numbers(payload[TAG_BYTES:])
        try:
            kind, position = next(numbers), _read_position(numbers)
            target = _read_position(numbers) if kind == HISTORY else None
            page = Page(next(numbers), next(numbers), next(numbers)) if kind == HISTORY else Page()
        except (StopIteration, ValueError):
            raise _refusal() from None
        if kind not in (LIVE, HISTORY) or next(numbers, None) is not None:
            raise _refusal()
        return Cursor(position, target, page)


class WayText:
    """The cursors between two positions, which differ in their page alone."""

    def __init__(self, head: bytes) -> None:
        self._head = head

    def at(self, page: Page) -> str:
        """The text of a place on the way."""
        return _text(self._head + _encode([page.group, page.round, page.offset]))


def _position(position: Position) -> bytes:
    snapshot = position.snapshot
    if snapshot is None:
        return _encode([AT_START])
    xids = [xid - snapshot.xmin for xid in snapshot.open_xids]
    kind = BEHIND_SNAPSHOT if position.has_lags else AT_SNAPSHOT
    numbers = [kind, snapshot.xmin, snapshot.xmax - snapshot.xmin, len(xids), *xids]
    numbers += [position.runs, len(position.exceptions)]
    for number, seq in position.exceptions.items():
        numbers += [number, seq]
    return _encode(numbers)


def _read_position(numbers: Iterator[int]) -> Position:
    kind = next(numbers)
    if kind == AT_START:
        return START
    xmin, xmax_gap, xids = next(numbers), next(numbers), _counted(next(numbers), TRANSACTIONS_MAX)
    snapshot = Snapshot(xmin, xmin + xmax_gap, tuple(xmin + next(numbers) for _ in range(xids)))
    is_ordered = list(snapshot.open_xids) == sorted(set(snapshot.open_xids))
    if (
        not 0 < xmin <= snapshot.xmax < NUMBER_MAX
        or not is_ordered
        or max(snapshot.open_xids, default=0) >= snapshot.xmax
    ):
        raise ValueError("no snapshot")
    runs, exceptions = next(numbers), _counted(next(numbers), EXCEPTIONS_MAX)
    seqs = {next(numbers): next(numbers) for _ in range(exceptions)}
    return Position(snapshot, runs, seqs, has_lags=kind != AT_SNAPSHOT)


def _counted(count: int, limit: int) -> int:
    if count > limit:
        raise ValueError("too many")
    return count


def _refusal() -> UsageError:
    return UsageError("This is no event id that a stream of a batch has sent.")


def _payload(text: str) -> bytes:
    if len(text) > TEXT_MAX:
        raise _refusal()
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _refusal() from None


def _text(payload: bytes) -> str:
    return base64.urlsafe_b64encode(payload).rstrip(b"=").decode()


def _encode(numbers: Sequence[int]) -> bytes:
    """Numbers in groups of seven bits, the lowest first; the eighth bit says that another group follows (LEB128)."""
    payload = bytearray()
    for number in numbers:
        remainder = number
        while remainder > 127:
            payload.append(remainder & 127 | 128)
            remainder >>= 7
        payload.append(remainder)
    return bytes(payload)


def _numbers(payload: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in payload:
        number |= (byte & 127) << shift
        shift += 7
        if number >= NUMBER_MAX:
            raise ValueError("too large")
        if byte < 128:
            yield number
            number = shift = 0
    if shift:
        raise ValueError("cut off")
