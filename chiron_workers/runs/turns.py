"""The tool calls of one reply, which run side by side and may put one question together instead of one each."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chiron_workers.errors import KeyRefused

ASKING_TOOLS = frozenset({"store_knowledge"})  # whose calls of one reply ask together
PATIENCE_S = 10.0  # for a call that neither joins nor ends; then the others ask without it

# Answers the items of some calls, by the ids of the calls.
Ask = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


@dataclass(slots=True)
class _Seat:
    item: Any
    ask: Ask
    answer: "asyncio.Future[Any]"  # None where whoever asked for all of them failed


class Turn:
    """Calls that may ask together. Whichever of them stands first in the reply asks for all that wait.

    So a turn that is played again after a crash puts the same question, and gets the answer that was paid for.
    """

    def __init__(self, call_ids: Iterable[str] = ()) -> None:
        self._order = list(call_ids)
        self._awaited_ids = set(self._order)
        self._seats: dict[str, _Seat] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def ask_together(self, call_id: str, item: Any, ask: Ask) -> Any:
        """The answer to an item of a call, once every call of the turn has joined with its own, or ended.

        Args:
            ask: Called in one of the calls, with the items of all.

        Returns:
            What `ask` gave for the call; None where the call that asked for all of them came to nothing.
        """
        seat = self._seats[call_id] = _Seat(item, ask, asyncio.get_running_loop().create_future())
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE_S, self._go)
        self._go_if_complete()
        try:
            answer = await seat.answer
            return await self._lead(call_id, answer) if isinstance(answer, _Group) else answer
        finally:
            _dismiss(seat)
            self.leave(call_id)

    def leave(self, call_id: str) -> None:
        """Wait no longer for a call: it has its answer, or has ended without a question."""
        self._awaited_ids.discard(call_id)
        self._seats.pop(call_id, None)
        self._go_if_complete()

    async def _lead(self, call_id: str, group: "_Group") -> Any:
        try:
            answers = await group.seats[call_id].ask({key: seat.item for key, seat in group.seats.items()})
        except KeyRefused as error:  # each of them would be refused
            for seat in group.seats.values():
                if not seat.answer.done():
                    seat.answer.set_exception(error)
            raise
        for key, seat in group.seats.items():
            if not seat.answer.done():
                seat.answer.set_result(answers.get(key))
        return answers.get(call_id)

    def _go_if_complete(self) -> None:
        if self._seats and self._awaited_ids <= self._seats.keys():
            self._go()

    def _go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        ids = sorted(self._seats, key=lambda call_id: _place(self._order, call_id))
        seats = {call_id: self._seats.pop(call_id) for call_id in ids}
        self._awaited_ids -= seats.keys()
        waiting_seats = {call_id: seat for call_id, seat in seats.items() if not seat.answer.done()}
        leader = next(iter(waiting_seats.values()), None)
        if leader is not None:
            leader.answer.set_result(_Group(waiting_seats))


@dataclass(frozen=True, slots=True)
class _Group:
    seats: dict[str, _Seat]


def _dismiss(seat: _Seat) -> None:
    """Let those go for whom a call was to ask, and which it has no answer for, since it failed or was cancelled."""
    has_answer = seat.answer.done() and not seat.answer.cancelled() and seat.answer.exception() is None
    answer = seat.answer.result() if has_answer else None
    if isinstance(answer, _Group):
        for other in answer.seats.values():
            if not other.answer.done():
                other.answer.set_result(None)


def _place(order: list[str], call_id: str) -> int:
    return order.index(call_id) if call_id in order else len(order)
