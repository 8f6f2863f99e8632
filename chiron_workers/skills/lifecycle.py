import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID

import structlog

from chiron_workers.errors import SkillLoadError, ToolError
from chiron_workers.skills.code import Code

Hook = Callable[[], Awaitable[None]]  # called where what it raises is caught, though it may be no coroutine

log = structlog.get_logger()

LEAVE_S = 5.0  # for letting go: a skill that hangs keeps no run and no worker


class Lifecycle:
    """How far the skills of one worker are: initialized once, active for each of its runs that has loaded them."""

    def __init__(self) -> None:
        self._initialized: list[Code] = []
        self._active: defaultdict[UUID, list[Code]] = defaultdict(list)
        self._locks: defaultdict[tuple[str, UUID | None], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def activate(self, run_id: UUID, codes: Sequence[Code]) -> None:
        """Make skills ready for a run, in this order; what is ready is left alone.

        Raises:
            SkillLoadError: A hook failed; the message says which.
        """
        for code in codes:
            async with self._locks[code.name, None]:
                if code not in self._initialized:
                    await _called(code, "initialize", code.made.initialize)
                    self._initialized.append(code)
            async with self._locks[code.name, run_id]:  # another run waits for none that hangs
                if code not in self._active[run_id]:
                    await _called(code, "activate", partial(code.made.activate, run_id))
                    self._active[run_id].append(code)

    async def leave(self, run_id: UUID) -> None:
        """Let go of a run's skills, the last one first."""
        for code in reversed(self._active.pop(run_id, [])):
            self._locks.pop((code.name, run_id), None)
            await _let_go(code, partial(code.made.deactivate, run_id))

    async def close(self, codes: Sequence[Code]) -> None:
        """Let go of everything: of runs that are still active, then of the skills, in the reverse of this order."""
        for run_id in list(self._active):
            await self.leave(run_id)
        for code in reversed(codes):
            await _let_go(code, code.made.unload)
        self._initialized.clear()


async def _called(code: Code, hook: str, work: Hook) -> None:
    try:
        await work()
    except ToolError:
        raise
    except (Exception, SystemExit) as error:
        raise SkillLoadError(
            f"The skill {code.name} cannot be loaded: its {hook} failed: {type(error).__name__}: {error}"
        ) from error


async def _let_go(code: Code, work: Hook) -> None:
    try:
        async with asyncio.timeout(LEAVE_S):
            await work()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a skill takes neither its run nor its worker with it
        log.warning("skill.failed", skill=code.name, error=f"{type(error).__name__}: {error}")
