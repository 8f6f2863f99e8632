"""Why nothing happens in what is watched, said once when it begins and once when it is over: all is paused, a service is away."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout

from chiron_api.cli.display.events import STATE_AFTER
from chiron_api.cli.display.finish_hint import finish_hint
from chiron_api.cli.display.remedies import pasteable
from chiron_workers.batches.cost_to_finish import cost_to_finish_paused
from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client, write_refusal
from chiron_workers.pubsub.streams import Stream
from chiron_workers.runs.events import Event
from chiron_workers.settings import settings
from chiron_workers.states import RunState
from chiron_workers.worker.fleet import postgres_fleet, sentence

LOOK_S = 0.5
POSTGRES_AWAY = "Postgres does not answer. Nothing is lost, and the watching goes on once it does."
REDIS_LOOK_S = 2.0
WORKERS_LOOK_S = 2.0
WORKERS_BACK = "All workers give signs again."
REDIS_MEANWHILE = "Runs under way go on; others start once it does."
REDIS_BACK = "Redis takes writes again."
POSTGRES_BACK = "Postgres answers again."


class Standstill:
    """What keeps a batch or a run from going on, by the events of its stream."""

    def __init__(
        self, stream: Stream, target: BatchSummary | RunSummary, *, pool: Pool, redis_url: str = ""
    ) -> None:
        self._stream = stream
        self._pool = pool
        self._target_id = target.id
        self._redis_url = redis_url
        runs = stream.beginning.runs if stream.beginning else ()
        self._states: dict[UUID, RunState] = {run.id: run.state for run in runs}
        self._runs = 1
        pronoun, noun = "it", "The run is"
        if isinstance(target, RunSummary):
            self._states.setdefault(target.id, target.state)
        else:
            self._runs = sum(target.runs.values())
            pronoun, noun = "them", "All runs that have not ended are"
        self._counts = Counter(self._states.values())
        self._is_paused = False
        self._paused_noun = noun
        command = pasteable("resume", str(target.id))
        self._paused_words = f"{noun} paused. {command} lets {pronoun} go on."

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the stream. Wrap it in `contextlib.aclosing`."""
        async with aclosing(self._stream.events()) as events:
            async for event in events:
                self._apply(event)
                yield event

    @asynccontextmanager
    async def told(self, tell: Callable[[str, bool], object]) -> AsyncIterator[None]:
        """Tell within the block of each reason once it holds, and with True once it does so no longer."""
        duties = (self._tell_changes(tell), self._tell_refusals(tell), self._tell_workers(tell))
        tasks = [asyncio.create_task(work) for work in duties]
        try:
            yield
        finally:
            await cancel_until_done(tasks)
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell_refusals(self, tell: Callable[[str, bool], object]) -> None:
        if not self._redis_url:
            return
        was_refusing = False
        async with redis_client(self._redis_url) as redis:
            while True:
                refusal = await write_refusal(redis)
                leave_if_cancelled()
                if refusal and not was_refusing:
                    tell(f"{refusal} {REDIS_MEANWHILE}", False)
                elif was_refusing and not refusal:
                    tell(REDIS_BACK, True)
                was_refusing = bool(refusal)
                await asyncio.sleep(REDIS_LOOK_S)

    async def _tell_workers(self, tell: Callable[[str, bool], object]) -> None:
        """Report silent or missing workers; other lines report Redis and Postgres."""
        current, was_silent = settings(), False
        while True:
            fleet = await postgres_fleet(self._pool, current)
            problem = fleet.worker_problem if self._needs_workers() else ""
            if problem and not was_silent:
                tell(sentence(problem), False)
            elif was_silent and not problem and fleet.workers:
                tell(WORKERS_BACK, True)
            was_silent = bool(problem) or (was_silent and not fleet.workers)
            await asyncio.sleep(WORKERS_LOOK_S)

    def _needs_workers(self) -> bool:
        return len(self._states) < self._runs or any(
            self._counts[state] for state in (RunState.QUEUED, RunState.RUNNING)
        )

    async def _tell_changes(self, tell: Callable[[str, bool], object]) -> None:
        was_away = was_paused = False
        while True:
            is_away, is_paused = self._stream.is_postgres_away, self._look_whether_paused()
            if is_away != was_away:
                tell(POSTGRES_AWAY if is_away else POSTGRES_BACK, not is_away)
            if is_paused != was_paused:
                tell(await self._words_of_pause() if is_paused else "It goes on.", not is_paused)
            was_away, was_paused = is_away, is_paused
            await asyncio.sleep(LOOK_S)

    async def _words_of_pause(self) -> str:
        try:
            cost = await cost_to_finish_paused(self._pool, self._target_id)
        except (psycopg.OperationalError, PoolTimeout):  # another line reports it
            cost = None
        return self._paused_words if cost is None else f"{self._paused_noun} paused. {finish_hint(cost)}"

    def _look_whether_paused(self) -> bool:
        # While a history is read, runs may be missing; and what has ended does not go on.
        open_runs = sum(count for state, count in self._counts.items() if not state.is_final)
        if open_runs and len(self._states) >= self._runs:
            self._is_paused = self._counts[RunState.PAUSED] == open_runs
        return self._is_paused

    def _apply(self, event: Event) -> None:
        state = STATE_AFTER.get(event.kind)  # type: ignore[call-overload]
        if state is None:
            return
        if event.run_id in self._states:
            self._counts[self._states[event.run_id]] -= 1
        self._states[event.run_id] = state
        self._counts[state] += 1
