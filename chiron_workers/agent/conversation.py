import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from chiron_workers.agent.stagnation import Stagnation
from chiron_workers.agent.window import Window
from chiron_workers.cancellation import cancel_until_done
from chiron_workers.errors import RunFailed
from chiron_workers.problems import CONTINUE
from chiron_workers.runs.entries import Compaction, Entry, Opening, Question, Reply
from chiron_workers.runs.fence import NewEvent
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run

Value = TypeVar("Value")
COMMIT_S = 10.0  # for the commit of a reply when its run is cancelled, however often


class Conversation:
    """Commits a run's entries, replies among them, to its journal, and then adds them to the window that the model is sent.

    Args:
        entries: The journal's entries of the run's epoch so far.
    """

    def __init__(self, run: Run, journal: Journal, entries: Sequence[Entry]) -> None:
        self._run = run
        self._journal = journal
        self._max_turns = run.max_turns
        self._has_unread = True
        self.window = Window(entries)
        self.stagnation = Stagnation(entries)
        self.latest: Entry | None = entries[-1] if entries else None
        self.last_n = run.entries  # number of the last entry in the journal, which counts no results
        self.turns = run.turns
        self.epoch = run.epoch
        # Whether the last reply came in this execution, so that none of its calls has run.
        self.is_fresh = False

    async def append(
        self, entry: Opening | Question | Compaction | Reply, events: Sequence[NewEvent] = ()
    ) -> None:
        """Commit the next entry with its events. Raises LeaseLost."""
        self._has_unread = await despite_cancellation(
            self._journal.append(self._run, entry, n=self.last_n + 1, events=events)
        )
        self.add(entry)
        self.last_n += 1
        self.turns += isinstance(entry, Reply)
        self.is_fresh = isinstance(entry, Reply)

    async def take_messages(self, *, look: bool = False) -> bool:
        """Turn the unread messages into the next entry; return whether there were any. Raises LeaseLost.

        Args:
            look: Look for them even if there were none at the last write.
        """
        if not (self._has_unread or (look and await self._journal.has_unread(self._run))):
            return False
        self._has_unread = False
        question_and_turns = await self._journal.take_messages(self._run, n=self.last_n + 1)
        if question_and_turns is None:
            return False
        question, self._max_turns = question_and_turns
        self.add(question)
        self.last_n += 1
        return True

    @property
    def is_last_turn(self) -> bool:
        """Whether the run may take no more turns."""
        return self.turns >= self._max_turns

    def check_turns(self) -> None:
        """Raise RunFailed if the run may take no more turns."""
        if self.is_last_turn:
            raise RunFailed(
                "max_turns",
                f"The run used all its turns ({self._max_turns}). It can continue from there, with more turns.",
                remedies=(CONTINUE,),
            )

    def add(self, entry: Entry) -> None:
        """Add an entry that is committed."""
        self.window.add(entry)
        self.stagnation.add(entry)
        self.latest = entry
        if isinstance(entry, Opening):
            self.epoch = entry.epoch


async def despite_cancellation(write: Coroutine[Any, Any, Value], *, is_cancelled: bool = False) -> Value:
    """Await the commit of a reply. It is paid for and not thrown away: cancels, however many come, wait for it.

    Args:
        is_cancelled: A cancel came already.
    """
    task = asyncio.create_task(write)
    grace = asyncio.create_task(_cancel_after_grace(task)) if is_cancelled else None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            grace = grace or asyncio.create_task(_cancel_after_grace(task))
    if grace is None:
        return task.result()
    await asyncio.gather(task, return_exceptions=True)
    raise asyncio.CancelledError


async def _cancel_after_grace(task: "asyncio.Task[Value]") -> None:
    await asyncio.wait([task], timeout=COMMIT_S)
    await cancel_until_done([task])
