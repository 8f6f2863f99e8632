import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID

import structlog

from chiron_workers.errors import SkillLoadError, ToolError
from chiron_workers.skills.code import SkillCode

Hook = Callable[[], Awaitable[None]]  # a hook of foreign code may also raise before it returns an awaitable

log = structlog.get_logger()

RELEASE_S = 5.0  # a hook that hangs must hold up neither its run nor its worker


class Lifecycle:
    """Calls the hooks of a worker's skills: `initialize` once, `activate` for each run that has loaded them."""

    def __init__(self) -> None:
        self._initialized: list[SkillCode] = []
        self._active: defaultdict[UUID, list[SkillCode]] = defaultdict(list)
        self._locks: defaultdict[tuple[str, UUID | None], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def activate(self, run_id: UUID, codes: Sequence[SkillCode]) -> None:
        """Make skills ready for a run, in this order; those that are ready are left alone. Raises SkillLoadError."""
        for code in codes:
            async with self._locks[code.name, None]:
                if code not in self._initialized:
                    await _call_hook(code, "initialize", code.instance.initialize)
                    self._initialized.append(code)
            async with self._locks[code.name, run_id]:  # a hook that hangs holds up no other run
                if code not in self._active[run_id]:
                    await _call_hook(code, "activate", partial(code.instance.activate, run_id))
                    self._active[run_id].append(code)

    async def deactivate(self, run_id: UUID) -> None:
        """Deactivate a run's skills, the last one first."""
        for code in reversed(self._active.pop(run_id, [])):
            self._locks.pop((code.name, run_id), None)
            await _call_release_hook(code, partial(code.instance.deactivate, run_id))

    async def close(self, codes: Sequence[SkillCode]) -> None:
        """Deactivate the skills of all runs, then unload these skills in reverse order."""
        for run_id in list(self._active):
            await self.deactivate(run_id)
        for code in reversed(codes):
            await _call_release_hook(code, code.instance.unload)
        self._initialized.clear()


async def _call_hook(code: SkillCode, name: str, hook: Hook) -> None:
    try:
        await hook()
    except ToolError:
        raise
    except (Exception, SystemExit) as error:
        raise SkillLoadError(
            f"The skill {code.name} cannot be loaded: its {name} failed: {type(error).__name__}: {error}"
        ) from error


async def _call_release_hook(code: SkillCode, hook: Hook) -> None:
    try:
        async with asyncio.timeout(RELEASE_S):
            await hook()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a fault in a skill ends neither its run nor its worker
        log.warning("skill.failed", skill=code.name, error=f"{type(error).__name__}: {error}")
